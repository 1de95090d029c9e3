import type { LeasedNumber } from './lease.ts'
import { claimElements, linksOf, nearestElement } from './owners.ts'
import { replaceNumbers } from './phone-text.ts'
import type { Pool } from './pool.ts'

/** A text or an attribute. */
type Spot = Text | Attr

/** What we wrote, and what the page had there. */
const written = new WeakMap<Spot, { readonly own: string; readonly ours: string }>()

/** What the page itself has at a spot. */
function ownValue(spot: Spot): string {
  const value = spot.nodeValue as string
  const entry = written.get(spot)
  return entry && entry.ours === value ? entry.own : value
}

/** Writes a spot. Returns whether that changes it. */
function write(spot: Spot, ours: string): boolean {
  const own = ownValue(spot)
  if (spot.nodeValue === ours) return false
  written.set(spot, { own, ours })
  spot.nodeValue = ours
  return true
}

function elementOf(spot: Spot): Element {
  return ('ownerElement' in spot ? spot.ownerElement : spot.parentElement) as Element
}

/** How a number is written inside an element. */
function spellingIn(element: Element, number: LeasedNumber): string {
  const format = element.closest('[data-svc-format]')?.getAttribute('data-svc-format')
  return format === 'e164' || format === 'national' ? number[format] : number.display
}

/** Texts that are not shown as text, or that the visitor edits. */
const SKIPPED = 'script,style,textarea,select,[contenteditable]:not([contenteditable="false"])'

/** The texts of an element, without those of elements inside it that are written by themselves. */
function textsOf(element: Element): Text[] {
  const texts: Text[] = []
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node; node = walker.nextNode())
    if (nearestElement(node) === element && !elementOf(node as Text).closest(SKIPPED)) texts.push(node as Text)
  return texts
}

/** An empty element is a place for a number; an empty link may be an icon. */
const NO_PLACE = `a,button,img,input,iframe,meta,link,${SKIPPED}`

function isPlace(element: Element, texts: readonly Text[]): boolean {
  return element.childElementCount === 0 && !/\S/.test(texts.map(ownValue).join('')) && !element.closest(NO_PLACE)
}

/** Writes a number in place of those that the page has at some spots. */
function swapSpots(spots: readonly Spot[], number: LeasedNumber): boolean {
  const values = replaceNumbers(
    spots.map((spot) => ({ text: ownValue(spot), number: spellingIn(elementOf(spot), number) })),
  )
  return spots.filter((spot, index) => write(spot, values[index] as string)).length > 0
}

/** What screen readers and pointers are told of an element. */
const LABELS = ['aria-label', 'title']

/** Shows a number in an element and its links, or what the page itself has there. Returns whether that changes the page. */
function swapElement(element: Element, pool: Pool): boolean {
  const number = pool.number()
  const links = linksOf(element, pool)
  const hrefs = links.map((link) => link.getAttributeNode('href') as Attr)
  const labelled = [element, ...links]
  const labels = LABELS.map((name) => labelled.map((one) => one.getAttributeNode(name)))
    .reduce((all, some) => all.concat(some))
    .filter((label) => label !== null)
  const texts = textsOf(element)
  if (!number) return [...texts, ...labels, ...hrefs].filter((spot) => write(spot, ownValue(spot))).length > 0
  const changed = [
    isPlace(element, texts)
      ? write(texts[0] || element.appendChild(document.createTextNode('')), spellingIn(element, number))
      : swapSpots(texts, number),
    ...hrefs.map((href) => write(href, `tel:${number.e164}`)),
    ...labels.map((label) => swapSpots([label], number)),
  ]
  return changed.indexOf(true) >= 0
}

/** Shows each pool's number in its elements all over the page. Returns whether that changes the page. */
export function swapPage(pools: readonly Pool[]): boolean {
  return claimElements(pools).filter(([pool, element]) => swapElement(element, pool)).length > 0
}
