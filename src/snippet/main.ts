import type { Lease, LeasedNumber } from './lease.ts'
import { isSelector } from './owners.ts'
import { followAddress, followDocument } from './page-events.ts'
import { openPool, type Pool } from './pool.ts'
import { swapPage } from './swap.ts'

/** What pages can use. */
interface SnippetApi {
  /** Writes the numbers again, now. */
  swap(): void
  /** Leases again for the page as it is now; done when the number is shown. */
  refresh(): Promise<void>
  /** The number of the first pool on the page; null until there is one. */
  readonly number: LeasedNumber | null
  /** Adds the pool of a script element: scripts on one page share this object. */
  readonly join: (script: HTMLScriptElement) => void
}

declare global {
  interface Window {
    svcdni?: SnippetApi
  }
}

function createSnippet(): SnippetApi {
  const pools: Pool[] = []
  const swapNow = followDocument(() => swapPage(pools))
  let hadNumber = false

  function swap(): void {
    if (hadNumber) swapNow()
  }
  function show(pool: string, lease: Lease | null): void {
    hadNumber = true
    swap()
    if (lease) document.dispatchEvent(new CustomEvent('svcdni:number', { detail: { pool, ...lease } }))
  }
  async function refresh(): Promise<void> {
    await Promise.all(pools.map((pool) => pool.refresh()))
  }
  function look(): void {
    for (const pool of pools) pool.look()
  }
  function join({ dataset, src }: HTMLScriptElement): void {
    const key = dataset.pool
    const api = (dataset.api || src.replace(/[?#].*/, '').replace(/\/[^/]*$/, '')).replace(/\/+$/, '')
    const selector = dataset.swap || '.svc-number'
    if (!key || !api) return
    const known = pools.filter((pool) => pool.key === key && pool.api === api)[0]
    const pool = known || openPool(key, api, (lease) => show(key, lease))
    if (!known) pools.push(pool)
    if (isSelector(selector)) pool.selectors.push(selector)
    swap()
    look()
  }
  document.addEventListener('visibilitychange', look)
  // A page out of the back-forward cache may have lost its number meanwhile.
  addEventListener('pageshow', ({ persisted }) => persisted && refresh())
  followAddress(refresh)
  return {
    swap,
    refresh,
    join,
    get number() {
      return pools.reduce<LeasedNumber | null>((found, pool) => found || pool.number(), null)
    },
  }
}

/** The script elements that this run is for: a module does not know its own. */
function ownScripts(): readonly HTMLScriptElement[] {
  const own = document.currentScript as HTMLScriptElement | null
  if (own?.dataset.pool) return [own]
  return Array.from(document.querySelectorAll('script[data-pool][src*="svcdni"]:not([type="text/plain"])'))
}

try {
  const { svcdni } = window
  const snippet = typeof svcdni?.join === 'function' ? svcdni : createSnippet()
  window.svcdni = snippet
  for (const script of ownScripts()) snippet.join(script)
} catch {
  // The page keeps its own number.
}
