import { mergeParams, type Params } from './visit-params.ts'

/** Name of the one entry in the page's local storage. */
const ENTRY = 'svcdni'
/** A visit ends half an hour after its last page or heartbeat. */
const VISIT_MS = 30 * 60_000
const VISITOR = /^[\w-]{8,64}$/
const MAX_URL = 2_000

/** Who visits, and what brought them. */
export interface Visit {
  readonly id: string
  readonly params: Params
  /** The page of another site that led here, or an empty text. */
  readonly referrer: string
  /** When the visit was last active, in milliseconds. */
  readonly seen: number
}

/** The visit where storage is refused. */
let remembered: Visit | null = null
/** The document was looked at before: its referrer and query are those of its first page. */
let isFirstLook = true

function storedVisit(): Visit | null {
  try {
    const visit = JSON.parse(localStorage.getItem(ENTRY) as string)
    if (visit && typeof visit.id === 'string' && VISITOR.test(visit.id)) return visit
  } catch {}
  return remembered
}

function store(visit: Visit): Visit {
  remembered = visit
  try {
    localStorage.setItem(ENTRY, JSON.stringify(visit))
  } catch {}
  return visit
}

function randomId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => `0${byte.toString(16)}`.slice(-2)).join('')
}

/** Whether the document was opened from another site or none: by a link, not by a reload or the back button. */
function isArrival(): boolean {
  const [entry] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
  return (!entry || entry.type === 'navigate') && document.referrer.split('/')[2] !== location.host
}

/**
 * The visit as of the current page, kept for the next one. Its parameters and referrer are those of the page that it began with;
 * later pages add parameters, and an arrival from outside with parameters begins a new one.
 */
export function currentVisit(): Visit {
  const earlier = storedVisit()
  const seen = Date.now()
  const arrives = isFirstLook && isArrival()
  isFirstLook = false
  const goesOn = earlier && seen - earlier.seen < VISIT_MS && !(arrives && location.search.length > 1)
  return store({
    id: earlier ? earlier.id : randomId(),
    params: mergeParams(location.search, goesOn ? Object(earlier.params) : {}),
    referrer: goesOn ? earlier.referrer : arrives ? document.referrer.slice(0, MAX_URL) : '',
    seen,
  })
}

/** The visit is still active; the platform may have given the visitor another id. */
export function prolongVisit(id: string): void {
  const visit = storedVisit()
  if (visit) store({ ...visit, id, seen: Date.now() })
}

/** The page's address as it is sent: without its fragment, which can hold secrets. */
export function pageUrl(): string {
  return location.href.replace(/#.*/, '').slice(0, MAX_URL)
}
