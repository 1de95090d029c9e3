import type { Pool } from './pool.ts'

const MARKED = '[data-svc-number]'
const TEL = '[href^="tel:" i]'

/** Elements and links by the pool that writes them: the first one that claims them. */
const elements = new WeakMap<Element, Pool>()
const links = new WeakMap<Element, Pool>()

/** Whether a selector can be used. */
export function isSelector(selector: string): boolean {
  try {
    document.querySelector(selector)
    return true
  } catch {
    return false
  }
}

/** `data-svc-number` may name the pool that an element is for. */
function isFor(pool: Pool, element: Element): boolean {
  const named = element.getAttribute('data-svc-number')
  return !named || !/^pk_/.test(named) || named === pool.key
}

/** Gives the elements of the page that no pool has yet to the pools, in their order; returns all that pools have. */
export function claimElements(pools: readonly Pool[]): readonly (readonly [Pool, Element])[] {
  const claims: [Pool, Element][] = []
  for (const pool of pools)
    for (const element of Array.from(document.querySelectorAll([MARKED, ...pool.selectors].join()))) {
      if (!elements.has(element) && isFor(pool, element)) elements.set(element, pool)
      if (elements.get(element) === pool) claims.push([pool, element])
    }
  return claims
}

/** The `tel:` links on, inside and around an element of a pool that are not another pool's. */
export function linksOf(element: Element, pool: Pool): readonly Element[] {
  const inside = Array.from(element.querySelectorAll(TEL)).filter((link) => nearestElement(link) === element)
  const around = element.closest(TEL)
  return (around ? [around, ...inside] : inside).filter((link) => {
    if (!links.has(link)) links.set(link, pool)
    return links.get(link) === pool
  })
}

/** The nearest element around a node that a pool writes. */
export function nearestElement(node: Node): Element | null {
  let element = node instanceof Element ? node : node.parentElement
  while (element && !elements.has(element)) element = element.parentElement
  return element
}
