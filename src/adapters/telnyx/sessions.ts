import { upcast } from '../../kernel/entity.ts'
import type { EventOf, RecordedEvent } from '../../kernel/event.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { Random } from '../../ports/random.ts'
import { type Session, session, type sessionEvents } from './session.ts'

export interface SessionPorts {
  readonly log: EventLog
  readonly clock: Clock
  readonly random: Random
}

interface Fold {
  readonly state: Session
  readonly revision: number
}

type SessionEvent = EventOf<typeof sessionEvents>

const PAGE = 1_000
const NOTHING: Fold = { state: session.initial, revision: -1 }

function folded(fold: Fold, events: readonly RecordedEvent[]): Fold {
  const evolve = session.evolve as Readonly<Record<string, (state: Session, event: RecordedEvent) => Session>>
  return events.reduce((before, event) => {
    const current = upcast(session, event)
    return { state: evolve[current.type]?.(before.state, current) ?? before.state, revision: event.revision }
  }, fold)
}

/** The stored sessions. What is known of one is kept here until it is forgotten. */
export function createSessions({ log, clock, random }: SessionPorts) {
  const known = new Map<string, Fold>()
  const streamOf = (id: string) => `${session.name}-${id}`

  /** A session at its tail. @throws LogUnavailable */
  async function tail(id: string): Promise<Fold> {
    for (let fold = known.get(id) ?? NOTHING; ; ) {
      const events = await log.read(streamOf(id), fold.revision + 1, PAGE)
      fold = folded(fold, events)
      if (events.length < PAGE) {
        known.set(id, fold)
        return fold
      }
    }
  }

  /**
   * Adds an event, decided on the tail; null adds none, since it is so already. Answers the session as it is then.
   * @throws LogUnavailable
   */
  async function add(id: string, decide: (state: Session) => SessionEvent | null): Promise<Session> {
    for (;;) {
      const { state, revision } = await tail(id)
      const event = decide(state)
      if (event === null) return state
      const { recognized } = state
      const meta = {
        eventId: random.uuid(),
        workspaceId: recognized?.workspaceId ?? null,
        at: new Date(clock.now()).toISOString(),
        actor: { type: 'carrier', id: null, name: 'Telnyx' },
        commandId: id,
        correlationId: recognized?.callId ?? id,
        causationId: null,
        surface: 'carrier',
        ip: null,
      } as const
      const result = await log.append(streamOf(id), revision, [{ ...event, version: 1, meta }])
      if (result.ok) return (await tail(id)).state
    }
  }

  return {
    at: async (id: string) => (await tail(id)).state,
    add,
    forget: (id: string) => void known.delete(id),
  }
}

export type Sessions = ReturnType<typeof createSessions>
