import { mergeParams } from './visit-params.ts'

/** Swaps that follow changes of the page come no closer than this, so that a script that undoes them cannot hold the page up. */
const MIN_SWAP_MS = 100
/** A page that changes its address several times at once is looked at when it is done. */
const SETTLED_MS = 300

const WATCHED: MutationObserverInit = {
  subtree: true,
  childList: true,
  characterData: true,
  attributeFilter: ['href', 'class', 'title', 'aria-label', 'data-svc-number', 'data-svc-format'],
}

/**
 * Follows changes of the document, from its first number on.
 * @param swap returns whether it changed the page
 * @returns swaps at once
 */
export function followDocument(swap: () => boolean): () => void {
  let last = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  const observer = new MutationObserver(() => {
    const wait = last + MIN_SWAP_MS - Date.now()
    if (wait <= 0) swapNow()
    else timer = timer || setTimeout(swapNow, Math.min(wait, MIN_SWAP_MS))
  })
  function swapNow(): void {
    clearTimeout(timer)
    timer = undefined
    if (swap()) last = Date.now()
    // Changes of our own are no news.
    observer.takeRecords()
    observer.observe(document, WATCHED)
  }
  return swapNow
}

/** Calls back when the page goes to another path, or gets parameters that it had not, without being loaded. */
export function followAddress(changed: () => void): void {
  let path = location.pathname
  let params = mergeParams(location.search)
  let timer: ReturnType<typeof setTimeout>
  function look(): void {
    const now = mergeParams(location.search)
    const isNew = location.pathname !== path || Object.keys(now).some((name) => now[name] !== params[name])
    path = location.pathname
    params = mergeParams(location.search, params)
    if (isNew) changed()
  }
  function later(): void {
    clearTimeout(timer)
    timer = setTimeout(look, SETTLED_MS)
  }
  for (const name of ['pushState', 'replaceState'] as const) {
    const original = history[name]
    history[name] = function (this: History, ...state) {
      original.apply(this, state)
      later()
    }
  }
  addEventListener('popstate', later)
}
