import { ledger } from '../../src/domain/routing/ledger.ts'
import { streamOf } from '../../src/kernel/entity.ts'
import type { RecordedEvent } from '../../src/kernel/event.ts'
import { generatedCallOf, type PlayedTemplates } from './generated-log.ts'
import { type GeneratedCall, sharedPart, type Template, type TemplateEvent, write } from './template.ts'

/** How long a connected call talks: so many are open at a time. */
const TALK_MS = 120_000
/** Callers, of whom some call again. */
const CALLERS = 2_000_000

/** A template, and the caller that each generated call replaces. */
interface CallTemplate {
  readonly template: Template
  readonly caller: string | null
  /** Index of the first event of a call's end. */
  readonly end: number
}

function callTemplateOf(template: Template): CallTemplate {
  const end = template.events.findIndex(({ type }) => type === 'CallReleased')
  const first = template.events[0]?.data.filter((part) => typeof part === 'string').join('') ?? ''
  const [, caller = null] = /"caller":"(\+\d+)"/.exec(first) ?? []
  return { template, caller, end: end < 0 ? template.events.length : end }
}

/**
 * The events of a workspace's ledger at a steady rate of calls, by the n-th call: its own arrival, and the end of the call
 * that arrived two minutes before. Callers differ from call to call.
 */
export function busyLedger({ templates, workspaceId }: PlayedTemplates, calls: number, perSecond: number) {
  const all = templates.map((template) => callTemplateOf(sharedPart(template, ledger.name)))
  const stream = streamOf(ledger, workspaceId)
  const pace = { startMs: Date.now(), gapMs: 1_000 / perSecond }
  const open: { readonly of: CallTemplate; readonly call: GeneratedCall; readonly caller: string }[] = []
  const waiting = Math.round((TALK_MS / 1_000) * perSecond)
  let revision = -1

  function eventOf(
    { data, meta, type, version }: TemplateEvent,
    { caller }: CallTemplate,
    call: GeneratedCall,
    newCaller: string,
  ): RecordedEvent {
    revision += 1
    const text = write(data, call)
    return {
      stream,
      revision,
      position: revision,
      type,
      version,
      data: JSON.parse(caller === null ? text : text.replaceAll(caller, newCaller)),
      meta: JSON.parse(write(meta, call)),
    }
  }

  return {
    stream,
    /** The events at the n-th arrival, in order. */
    eventsAt(n: number): readonly RecordedEvent[] {
      const of = all[n % all.length] as CallTemplate
      const call = generatedCallOf(of.template, n, calls, pace)
      const caller = `+1${String(2_000_000_000 + Math.floor(Math.random() * CALLERS)).padStart(10, '0')}`
      open.push({ of, call, caller })
      const arrived = of.template.events.slice(0, of.end).map((event) => eventOf(event, of, call, caller))
      const over = open.length > waiting ? open.shift() : undefined
      if (!over) return arrived
      const later = { ...over.call, shiftMs: over.call.shiftMs + TALK_MS }
      const ended = over.of.template.events.slice(over.of.end)
      return [...arrived, ...ended.map((event) => eventOf(event, over.of, later, over.caller))]
    },
  }
}
