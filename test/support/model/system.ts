import { ledger } from '../../../src/domain/routing/ledger.ts'
import type { AnyCommand } from '../../../src/kernel/command.ts'
import type { Actor, RecordedEvent } from '../../../src/kernel/event.ts'
import { isRefusal, type Refusal } from '../../../src/kernel/refusal.ts'
import { createPlatformEffects } from '../../../src/main/platform-effects.ts'
import type { Carrier, CarrierNotice, DialCommand, ReleaseCommand } from '../../../src/ports/carrier.ts'
import type { Clock } from '../../../src/ports/clock.ts'
import type { Random } from '../../../src/ports/random.ts'
import { createOffers } from '../../../src/reactions/offers.ts'
import { sharedEntries } from '../../../src/runtime/entries/entry-cache.ts'
import { createStreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { noAuctions } from '../fixtures/no-auctions.ts'
import { noDeliveries } from '../fixtures/no-deliveries.ts'
import { WORKSPACE } from '../fixtures/spec.ts'
import { createMemoryLog } from '../memory/event-log.ts'
import { createMemoryOperationalStore } from '../memory/operational-store.ts'
import { createSeededRandom } from '../memory/random.ts'
import { createPublisherDesk, type SentPing, type SentPost } from '../simulation/publisher-desk.ts'
import { createReadModels } from './read-models.ts'

type MemoryLog = ReturnType<typeof createMemoryLog>
type ReadModels = ReturnType<typeof createReadModels>

/** A user of the console, and an API key. */
export const ADA: Actor = { type: 'user', id: '01900000-0000-7000-8000-000000000002', name: 'Ada' }
export const KEY: Actor = { type: 'key', id: '01900000-0000-7000-8000-000000000003', name: 'Buyer feed' }

/** The scheduled jobs of calls and offers. The model has no number orders and no rent. */
const DUE = ['stuck', 'settle', 'usage', 'offer'] as const

/** Ids that carry the time, as UUIDv7 do: decision look-ups read their age. */
function createIds(now: () => number, seed: number): Random {
  const random = createSeededRandom(seed)
  let minted = 0
  return {
    ...random,
    uuid() {
      minted += 1
      const time = Math.floor(now()).toString(16).padStart(12, '0')
      return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${minted.toString(16).padStart(12, '0')}`
    },
  }
}

/** A carrier that records what it is asked to do. */
function createRecordingCarrier() {
  const dials: DialCommand[] = []
  const releases: ReleaseCommand[] = []
  const carrier: Pick<Carrier, 'name' | 'dial' | 'release' | 'numbers' | 'close' | 'probe'> = {
    name: 'model',
    numbers: null,
    dial: async (order) => void dials.push(order),
    release: async (order) => void releases.push(order),
    probe: async () => ({ outcome: 'answered', sipCode: null, ms: 0 }),
    close: async () => undefined,
  }
  return {
    carrier: carrier as Carrier,
    dials: dials as readonly DialCommand[],
    releases: releases as readonly ReleaseCommand[],
  }
}

/** The earliest job of the timers that is due; null when there is none. */
function earliestDueJob({ docs }: Pick<ReadModels, 'docs'>, now: number) {
  const rows = [...docs('timers').values()].filter((row) => Number(row.dueAt) <= now)
  const [row] = rows.toSorted((one, other) => Number(one.dueAt) - Number(other.dueAt))
  const kind = DUE.find((each) => each === row?.kind)
  if (!row || !kind) return null
  const amountCents = typeof row.amountCents === 'number' ? row.amountCents : null
  return { kind, due: { subjectId: String(row.subjectId), dueAt: Number(row.dueAt), amountCents } }
}

/** The writer, the effects and the desk of the publishers over the stores, with a carrier that records; `faults` are the errors of failed steps. */
function createEngine(log: MemoryLog, readModels: ReadModels, clock: Clock, random: Random) {
  const ops = createMemoryOperationalStore()
  const faults: unknown[] = []
  const { carrier, dials, releases } = createRecordingCarrier()
  const writer = createStreamWriter({
    log,
    ops,
    clock,
    random,
    async lookUp(memory, id) {
      readModels.project()
      return readModels.docs(memory.name).get(id) ?? null
    },
  })
  const auctions = { ...noAuctions, offers: createOffers({ entries: sharedEntries(ops), clock, writer }) }
  const effects = createPlatformEffects({
    log,
    deliveries: noDeliveries,
    auctions,
    writer,
    carrier: () => carrier,
    clock,
    claims: { ops, owner: 'model' },
    onFailure: (_event, error) => void faults.push(error),
  })
  /** What follows from auctions: a publisher does not wait for it, the comparison does. */
  const following: Promise<unknown>[] = []
  const processEvents: typeof effects.processEvents = (events) => {
    const processed = effects.processEvents(events)
    following.push(processed)
    return processed
  }
  const publishers = createPublisherDesk({ auctions, writer, ops, effects: { processEvents }, clock, random })
  const followed = () => Promise.all(following.splice(0))
  return { writer, effects, publishers, followed, faults, dials, releases }
}

/**
 * Creates the real engine in memory: writer, reactions, scheduled jobs and read models, with a manual clock and
 * carrier.
 */
export function createSystem(startsAt: number, seed: number, from: readonly RecordedEvent[] = []) {
  let now = startsAt
  const clock = { now: () => now, schedule: () => () => undefined }
  const log = createMemoryLog(from)
  const random = createIds(clock.now, seed)
  const readModels = createReadModels(log)
  const { writer, effects, publishers, followed, faults, dials, releases } = createEngine(
    log,
    readModels,
    clock,
    random,
  )

  /** The events that a piece of work appends. @throws the error of a step that failed */
  async function appendedBy(work: () => Promise<unknown>): Promise<readonly RecordedEvent[]> {
    const before = log.events.length
    await work()
    await followed()
    if (faults.length > 0) throw faults[0]
    readModels.project()
    return log.events.slice(before)
  }

  const execute = (command: AnyCommand, input: unknown, actor = ADA): Promise<Refusal | readonly RecordedEvent[]> => {
    const commandId = random.uuid()
    const by = { workspaceId: WORKSPACE, actor, commandId, correlationId: commandId, causationId: null }
    let refusal: Refusal | null = null
    const work = async () => {
      const outcome = await effects.handle(command, command.input.parse(input), { ...by, surface: 'console', ip: null })
      if (isRefusal(outcome)) refusal = outcome
    }
    return appendedBy(work).then((events) => refusal ?? events)
  }

  const nextDueJob = () => earliestDueJob(readModels, now)

  readModels.project()
  return {
    log,
    dials,
    releases,
    docs: readModels.docs,
    newId: random.uuid,
    moveTo: (ms: number) => {
      now = ms
    },
    execute,
    handleNotice: (notice: CarrierNotice) => appendedBy(() => effects.handleCarrierNotice(notice)),
    /** A publisher pings; resolves to the events that this led to. */
    ping: (sent: SentPing) => appendedBy(() => publishers.ping(sent)),
    /** A publisher posts an offer; resolves to what it is answered. */
    async post(sent: SentPost) {
      const answers: Awaited<ReturnType<typeof publishers.post>>[] = []
      await appendedBy(async () => answers.push(await publishers.post(sent)))
      return answers[0] ?? null
    },
    ledger: () => writer.stateOf(ledger, WORKSPACE),
    /** Runs all jobs that are due, the earliest first. */
    runDueWork: () =>
      appendedBy(async () => {
        for (let job = nextDueJob(); job; job = nextDueJob()) {
          const before = log.events.length
          await effects.runScheduledJob(job.kind, WORKSPACE, job.due)
          readModels.project()
          if (log.events.length === before) throw new Error(`A due job changes nothing: ${JSON.stringify(job)}`)
        }
      }),
    store: readModels.store,
  }
}
export type System = ReturnType<typeof createSystem>
