import type { NumberQuery, OfferedNumber } from '../../ports/carrier-numbers.ts'

/** A block of numbers of one type and place, by their first digits. */
interface Block {
  readonly prefix: string
  readonly type: OfferedNumber['type']
  readonly region: string | null
  readonly locality: string | null
  readonly features: readonly string[]
}

/** A country's numbers: its code (`dial`) and ten digits. */
export interface NumberingPlan {
  readonly countryCode: string
  readonly dial: string
  readonly blocks: readonly Block[]
}

const DIGITS = 10
/** Numbers that a search generates before it gives up. */
const MAX_CANDIDATES = 50_000

/** Cities of some area codes, for `locality` and `rateCenter`. */
const CITIES: Readonly<Record<string, string>> = {
  202: 'Washington',
  206: 'Seattle',
  212: 'New York',
  213: 'Los Angeles',
  214: 'Dallas',
  215: 'Philadelphia',
  216: 'Cleveland',
  303: 'Denver',
  305: 'Miami',
  310: 'Los Angeles',
  312: 'Chicago',
  313: 'Detroit',
  314: 'St. Louis',
  404: 'Atlanta',
  412: 'Pittsburgh',
  415: 'San Francisco',
  503: 'Portland',
  504: 'New Orleans',
  512: 'Austin',
  602: 'Phoenix',
  612: 'Minneapolis',
  615: 'Nashville',
  617: 'Boston',
  619: 'San Diego',
  646: 'New York',
  702: 'Las Vegas',
  704: 'Charlotte',
  713: 'Houston',
  718: 'New York',
  773: 'Chicago',
  801: 'Salt Lake City',
  808: 'Honolulu',
  813: 'Tampa',
  816: 'Kansas City',
  901: 'Memphis',
  916: 'Sacramento',
}

const LOCAL = ['voice', 'sms', 'mms', 'fax', 'emergency', 'hd_voice', 'local_calling']
const TOLL_FREE = ['voice', 'sms', 'fax', 'hd_voice']
const VOICE = ['voice', 'fax']

/** The numbering plans: the United States with all area codes, and Great Britain for the other types of number. */
export function numberingPlans(areaCodes: ReadonlyMap<string, string>): readonly NumberingPlan[] {
  const block = (
    prefix: string,
    type: Block['type'],
    features: readonly string[],
    region: string | null = null,
    locality: string | null = null,
  ): Block => ({ prefix, type, region, locality, features })
  const tollFree = ['800', '833', '844', '855', '866', '877', '888']
  return [
    {
      countryCode: 'US',
      dial: '1',
      blocks: [
        ...[...areaCodes].map(([code, state]) => block(code, 'local', LOCAL, state, CITIES[code] ?? null)),
        ...tollFree.map((code) => block(code, 'toll_free', TOLL_FREE)),
      ],
    },
    {
      countryCode: 'GB',
      dial: '44',
      blocks: [
        block('20', 'local', VOICE, 'ENG', 'London'),
        block('161', 'local', VOICE, 'ENG', 'Manchester'),
        block('131', 'local', VOICE, 'SCT', 'Edinburgh'),
        block('74', 'mobile', ['voice', 'sms', 'international_sms']),
        block('330', 'national', VOICE),
        block('845', 'shared_cost', VOICE),
        block('808', 'toll_free', VOICE),
      ],
    },
  ]
}

/** The block of a number; null when it is in none. */
export function findBlock(plans: readonly NumberingPlan[], e164: string): { readonly block: Block } | null {
  for (const { dial, blocks } of plans) {
    if (!e164.startsWith(`+${dial}`) || e164.length !== 1 + dial.length + DIGITS) continue
    const digits = e164.slice(1 + dial.length)
    const block = blocks.find(({ prefix }) => digits.startsWith(prefix))
    if (block && isRentable(digits, block)) return { block }
  }
  return null
}

/** A partial number: a digit, or null, for each position. */
type Slots = readonly (string | null)[]

/** The slots with a pattern applied at a position; `*` leaves a slot open. Null when they contradict each other. */
function overlay(slots: Slots | null, at: number, pattern: string): Slots | null {
  if (slots === null || at < 0 || at + pattern.length > DIGITS) return null
  const next = [...slots]
  for (const [n, digit] of [...pattern].entries()) {
    if (digit === '*') continue
    const there = next[at + n] ?? null
    if (there !== null && there !== digit) return null
    next[at + n] = digit
  }
  return next
}

/** The national prefixes that `startsWith` can mean. With a plus it includes the country code; otherwise it may. */
function prefixesOf(startsWith: string | null, dial: string): readonly string[] {
  if (startsWith === null) return ['']
  const digits = startsWith.replace('+', '')
  const behind = digits.startsWith(dial) ? [digits.slice(dial.length)] : dial.startsWith(digits) ? [''] : []
  return startsWith.startsWith('+') ? behind : [...behind, digits]
}

/** Every way to apply the patterns of a search to a number, each once. */
function templates({ areaCode, startsWith, endsWith, contains }: NumberQuery, dial: string): readonly Slots[] {
  const free: Slots = Array.from({ length: DIGITS }, () => null)
  const offsets = contains === null ? [0] : Array.from({ length: DIGITS }, (_, n) => n)
  const ways = prefixesOf(startsWith, dial).flatMap((begins) => {
    const begun = overlay(overlay(free, 0, areaCode ?? ''), 0, begins)
    const both = overlay(begun, DIGITS - (endsWith?.length ?? 0), endsWith ?? '')
    return offsets.map((at) => overlay(both, at, contains ?? ''))
  })
  return [...new Map(ways.filter((slots) => slots !== null).map((slots) => [slots.join(), slots])).values()]
}

const equalsIgnoringCase = (one: string, other: string | null) => one.trim().toLowerCase() === other?.toLowerCase()

function blocksFor({ blocks }: NumberingPlan, query: NumberQuery): readonly Block[] {
  const { state, locality, rateCenter, numberType, features } = query
  return blocks.filter(
    (block) =>
      (numberType === null || block.type === numberType) &&
      (state === null || equalsIgnoringCase(state, block.region)) &&
      (locality === null || equalsIgnoringCase(locality, block.locality)) &&
      (rateCenter === null || equalsIgnoringCase(rateCenter, block.locality)) &&
      features.every((feature) => block.features.includes(feature)),
  )
}

/** Whether the exchange is realistic: it does not begin with 0 or 1, is no service code and not the fictional 555. */
function isRentable(digits: string, { prefix }: Block): boolean {
  const exchange = digits.slice(prefix.length, prefix.length + 3)
  return /^[2-9]/.test(exchange) && !/^.11$/.test(exchange) && exchange !== '555'
}

/** Whether an open digit of the exchange can make it realistic, or all its digits are known and it is. */
function mayBeRentable(slots: Slots, block: Block): boolean {
  const exchange = slots.slice(block.prefix.length, block.prefix.length + 3)
  const [first, second, third] = exchange
  if (!exchange.includes(null)) return isRentable(slots.map((digit) => digit ?? '0').join(''), block)
  return first !== '0' && first !== '1' && !(second === '1' && third === '1')
}

/** Coprime to every power of ten: its multiples visit all numbers of any digit count in a scattered order. */
const STRIDE = 7_368_787n

/** The numbers of a block that match the slots, always in the same order; null for each that cannot be rented. */
function* numbersOf(block: Block, slots: Slots): Generator<string | null> {
  const filled = overlay(slots, 0, block.prefix)
  if (filled === null || !mayBeRentable(filled, block)) return
  const open = filled.flatMap((digit, place) => (digit === null ? [place] : []))
  const count = 10n ** BigInt(open.length)
  const start = BigInt(block.prefix) * 104_729n
  for (let k = 0n; k < count; k += 1n) {
    const free = ((k * STRIDE + start) % count).toString().padStart(open.length, '0')
    const digits = [...filled]
    for (const [n, place] of open.entries()) digits[place] = free[n] ?? '0'
    const number = digits.join('')
    yield isRentable(number, block) ? number : null
  }
}

function toOfferedNumber({ countryCode, dial }: NumberingPlan, block: Block, digits: string): OfferedNumber {
  const { type, region, locality, features } = block
  const has = (feature: string) => features.includes(feature)
  const capabilities = { voice: has('voice'), sms: has('sms'), mms: has('mms') }
  return { e164: `+${dial}${digits}`, type, countryCode, region, locality, capabilities }
}

/** The numbers that match a search, taken from the blocks in turn. */
export function* searchNumbers(plan: NumberingPlan, query: NumberQuery): Generator<OfferedNumber> {
  const ways = templates(query, plan.dial)
  let sources = blocksFor(plan, query).flatMap((block) =>
    ways.map((slots) => ({ block, numbers: numbersOf(block, slots) })),
  )
  const seen = new Set<string>()
  for (let looked = 0; sources.length > 0 && looked < MAX_CANDIDATES; ) {
    const left: typeof sources = []
    for (const source of sources) {
      const next = source.numbers.next()
      looked += 1
      if (next.done) continue
      left.push(source)
      if (next.value === null || seen.has(next.value)) continue
      seen.add(next.value)
      yield toOfferedNumber(plan, source.block, next.value)
    }
    sources = left
  }
}
