import { parseStreamName } from '../../src/kernel/entity.ts'
import type { RecordedEvent } from '../../src/kernel/event.ts'
import { partitionOf, partitionText } from '../../src/kernel/partition.ts'

/** A part of a recorded text that differs in each generated call. */
type Slot =
  | { readonly kind: 'id'; readonly place: number }
  | { readonly kind: 'hex' }
  | { readonly kind: 'partition' }
  | { readonly kind: 'seq' }
  | { readonly kind: 'ref' }
  | { readonly kind: 'instant'; readonly ms: number }
  | { readonly kind: 'ms'; readonly ms: number }
type Text = readonly (string | Slot)[]

/** One event of a template. */
export interface TemplateEvent {
  readonly stream: Text
  /** Revision in the call's own streams; null in a stream that calls share. */
  readonly revision: number | null
  readonly type: string
  readonly version: number
  /** Index of the event's id among the ids of the call. */
  readonly idPlace: number
  readonly data: Text
  readonly meta: Text
}

/** A recorded call from which others are generated, with other ids, times and numbers. */
export interface Template {
  readonly events: readonly TemplateEvent[]
  readonly arrivedMs: number
  readonly ids: number
}

/** The values of a generated call. The first id is the call's own. */
export interface GeneratedCall {
  readonly ids: readonly string[]
  readonly seq: number
  readonly shiftMs: number
}

const hexOf = (id: string): string => id.replaceAll('-', '')
const carrierCallIdOf = (callId: string): string => `sim_${hexOf(callId)}`
const INSTANT = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`

/** Splits a text at the ids of the call and its events, at its number and at instants. */
function splitIntoSlots(text: string, ids: ReadonlyMap<string, number>, callId: string): Text {
  const names = [...ids.keys(), hexOf(callId)].join('|')
  const found = new RegExp(`(${names}|CA-\\d{10}|"seq":\\d+|"[A-Za-z]+Ms":\\d+|${INSTANT})`)
  return text.split(found).flatMap((part, index): Text => {
    if (index % 2 === 0) return part === '' ? [] : [part]
    const place = ids.get(part)
    if (place !== undefined) return [{ kind: 'id', place }]
    if (part === hexOf(callId)) return [{ kind: 'hex' }]
    if (part.startsWith('CA-')) return [{ kind: 'ref' }]
    if (part.startsWith('"seq"')) return ['"seq":', { kind: 'seq' }]
    if (!part.startsWith('"')) return [{ kind: 'instant', ms: Date.parse(part) }]
    const colon = part.indexOf(':') + 1
    return [part.slice(0, colon), { kind: 'ms', ms: Number(part.slice(colon)) }]
  })
}

const SLOTS: {
  readonly [Kind in Slot['kind']]: (slot: Extract<Slot, { readonly kind: Kind }>, call: GeneratedCall) => string
} = {
  id: ({ place }, { ids }) => ids[place] ?? '',
  hex: (_slot, { ids }) => hexOf(ids[0] ?? ''),
  partition: (_slot, { ids }) => partitionText(partitionOf(carrierCallIdOf(ids[0] ?? ''))),
  seq: (_slot, { seq }) => String(seq),
  ref: (_slot, { seq }) => `CA-${String(seq).padStart(10, '0')}`,
  instant: ({ ms }, { shiftMs }) => new Date(ms + shiftMs).toISOString(),
  ms: ({ ms }, { shiftMs }) => String(ms + shiftMs),
}

function textOfSlot(slot: Slot, call: GeneratedCall): string {
  const filled = SLOTS[slot.kind] as (slot: Slot, call: GeneratedCall) => string
  return filled(slot, call)
}

/** The text of a generated call. */
export function write(text: Text, call: GeneratedCall): string {
  let written = ''
  for (const part of text) written += typeof part === 'string' ? part : textOfSlot(part, call)
  return written
}

/** The events of a call in the shared stream of a category. */
export function sharedPart(template: Template, category: string): Template {
  const isThere = ({ stream: [head] }: TemplateEvent) => typeof head === 'string' && head.startsWith(`${category}-`)
  return { ...template, events: template.events.filter(isThere) }
}

/** The name of a stream: one that has the carrier's id of the call has its partition as well. */
function streamSlots(stream: string, ids: ReadonlyMap<string, number>, callId: string): Text {
  const { category, id } = parseStreamName(stream)
  if (id !== carrierCallIdOf(callId)) return splitIntoSlots(stream, ids, callId)
  return [`${category}-`, { kind: 'partition' }, '-', ...splitIntoSlots(id, ids, callId)]
}

/** Makes a template of a recorded call. `events` are all events of one call in log order. */
export function templateOf(callId: string, events: readonly RecordedEvent[], arrivedMs: number): Template {
  const ids = new Map([callId, ...events.map(({ meta }) => meta.eventId)].map((id, place) => [id, place]))
  return {
    arrivedMs,
    ids: ids.size,
    events: events.map(({ stream, revision, type, version, data, meta }) => ({
      stream: streamSlots(stream, ids, callId),
      revision: /^(call|simulator)-/.test(stream) ? revision : null,
      type,
      version,
      idPlace: ids.get(meta.eventId) ?? 0,
      data: splitIntoSlots(JSON.stringify(data), ids, callId),
      meta: splitIntoSlots(JSON.stringify(meta), ids, callId),
    })),
  }
}

/** Makes a template of another text of the call, such as one of its documents. */
export function textOf(callId: string, text: string): (call: GeneratedCall) => string {
  const parts = splitIntoSlots(text, new Map([[callId, 0]]), callId)
  return (call) => write(parts, call)
}
