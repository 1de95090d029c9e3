import { createWorkspace } from '../../../commands/access/create-workspace.ts'
import { createCampaign } from '../../../commands/campaigns/create-campaign.ts'
import { setCampaignStatus } from '../../../commands/campaigns/set-campaign-status.ts'
import { setRoute } from '../../../commands/campaigns/set-route.ts'
import { createBuyer } from '../../../commands/demand/create-buyer.ts'
import { createTarget } from '../../../commands/demand/create-target.ts'
import { setTargetStatus } from '../../../commands/demand/set-target-status.ts'
import { creditWallet } from '../../../commands/money/credit-wallet.ts'
import { assignNumber } from '../../../commands/supply/assign-number.ts'
import { createPublisher } from '../../../commands/supply/create-publisher.ts'
import { provisionNumber } from '../../../commands/supply/provision-number.ts'
import { reportNumberDelivery } from '../../../commands/supply/report-number-delivery.ts'
import { setLane } from '../../../commands/supply/set-lane.ts'
import { setPublisherStatus } from '../../../commands/supply/set-publisher-status.ts'
import { callEvents } from '../../../src/domain/calls/call.ts'
import { walletEvents } from '../../../src/domain/money/wallet.ts'
import { blocklistEvents } from '../../../src/domain/routing/blocklist.ts'
import { ledger } from '../../../src/domain/routing/ledger.ts'
import { ledgerEvents } from '../../../src/domain/routing/ledger-events.ts'
import type { AnyCommand } from '../../../src/kernel/command.ts'
import type { Actor, RecordedEvent } from '../../../src/kernel/event.ts'
import { type AnyProjection, collectionOf, keysOf, reduce } from '../../../src/kernel/projection.ts'
import { isRefusal, type Refusal } from '../../../src/kernel/refusal.ts'
import { createPlatformEffects } from '../../../src/main/effects.ts'
import { projections } from '../../../src/main/registry.ts'
import type { Carrier, CarrierNotice, DialCommand, ReleaseCommand } from '../../../src/ports/carrier.ts'
import type { Random } from '../../../src/ports/random.ts'
import type { Doc } from '../../../src/ports/read-store.ts'
import { createStreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { hashOf } from '../fixtures/workspace-fixture.ts'
import { createMemoryLog } from '../memory/event-log.ts'
import { createMemoryOperationalStore } from '../memory/operational-store.ts'
import { createSeededRandom } from '../memory/random.ts'
import { createMemoryReadStore } from '../memory/read-store.ts'
import { BUYERS, CAMPAIGNS, FUNDS, LANES, NUMBERS, PUBLISHERS, ROUTES, TARGETS, ZONE } from './world.ts'

const WORKSPACE = '01900000-0000-7000-8000-000000000001'
/** A user of the console, and an API key. */
export const ADA: Actor = { type: 'user', id: '01900000-0000-7000-8000-000000000002', name: 'Ada' }
export const KEY: Actor = { type: 'key', id: '01900000-0000-7000-8000-000000000003', name: 'Buyer feed' }

/** Events of calls and money. Projections without any of them are left out, as is the activity log. */
const callEventSchemas = { ...ledgerEvents, ...callEvents, ...walletEvents, ...blocklistEvents }
const followed: readonly AnyProjection[] = projections.filter(
  ({ name, events }) => name !== 'activity' && Object.keys(events).some((type) => type in callEventSchemas),
)

/** Read models that queries sum and count. */
const SUMMED = ['call-log', 'usage']

/** The scheduled jobs of calls. The model has no number orders and no rent. */
const DUE = ['stuck', 'settle', 'usage'] as const

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

/**
 * Creates the real engine in memory: writer, reactions, scheduled jobs and read models, with a manual clock and
 * carrier.
 */
async function createSystem(startsAt: number, seed: number) {
  let now = startsAt
  const clock = { now: () => now, schedule: () => () => undefined }
  const log = createMemoryLog()
  const ops = createMemoryOperationalStore()
  const random = createIds(clock.now, seed)
  const dials: DialCommand[] = []
  const releases: ReleaseCommand[] = []
  const faults: unknown[] = []
  const views = new Map(followed.map(({ name }) => [name, new Map<string, Doc>()]))
  let read = 0

  const carrier: Pick<Carrier, 'name' | 'dial' | 'release' | 'numbers' | 'close' | 'probe'> = {
    name: 'model',
    numbers: null,
    dial: async (order) => void dials.push(order),
    release: async (order) => void releases.push(order),
    probe: async () => ({ outcome: 'answered', sipCode: null, ms: 0 }),
    close: async () => undefined,
  }

  function fold(event: RecordedEvent): void {
    for (const projection of followed) {
      if (!(event.type in projection.events)) continue
      const docs = views.get(projection.name)
      for (const id of keysOf(projection, event)) {
        const doc = reduce(projection, docs?.get(id) ?? null, event, id)
        if (doc === null) docs?.delete(id)
        else docs?.set(id, doc as Doc)
      }
    }
  }

  /** Projects the events that were appended since. */
  function project(): void {
    for (; read < log.events.length; read++) {
      const event = log.events[read]
      if (event) fold(event)
    }
  }

  const writer = createStreamWriter({
    log,
    ops,
    clock,
    random,
    async lookUp(memory, id) {
      project()
      return views.get(memory.name)?.get(id) ?? null
    },
  })
  const flow = createPlatformEffects({
    writer,
    carrier: () => carrier as Carrier,
    clock,
    claims: { ops, owner: 'model' },
    onFailure: (_event, error) => void faults.push(error),
  })

  /** The events that a piece of work appends. @throws the error of a step that failed */
  async function appendedBy(work: () => Promise<unknown>): Promise<readonly RecordedEvent[]> {
    const before = log.events.length
    await work()
    if (faults.length > 0) throw faults[0]
    project()
    return log.events.slice(before)
  }

  const act = (command: AnyCommand, input: unknown, actor = ADA): Promise<Refusal | readonly RecordedEvent[]> => {
    const commandId = random.uuid()
    const by = { workspaceId: WORKSPACE, actor, commandId, correlationId: commandId, causationId: null }
    let refusal: Refusal | null = null
    const work = async () => {
      const outcome = await flow.handle(command, command.input.parse(input), { ...by, surface: 'console', ip: null })
      if (isRefusal(outcome)) refusal = outcome
    }
    return appendedBy(work).then((events) => refusal ?? events)
  }

  return {
    log,
    dials: dials as readonly DialCommand[],
    releases: releases as readonly ReleaseCommand[],
    docs: (name: string): ReadonlyMap<string, Doc> => views.get(name) ?? new Map(),
    newId: random.uuid,
    moveTo: (ms: number) => {
      now = ms
    },
    /** Starts from the events of another system. */
    async load(events: readonly RecordedEvent[]) {
      for (const [stream, own] of Map.groupBy(events, (event) => event.stream)) await log.append(stream, -1, own)
      project()
    },
    act,
    handleNotice: (notice: CarrierNotice) => appendedBy(() => flow.handleCarrierNotice(notice)),
    ledger: () => writer.stateOf(ledger, WORKSPACE),
    /** Runs all jobs that are due, the earliest first. */
    runDueWork: () =>
      appendedBy(async () => {
        for (;;) {
          const rows = [...(views.get('timers')?.values() ?? [])].filter((row) => Number(row.dueAt) <= now)
          const [row] = rows.toSorted((one, other) => Number(one.dueAt) - Number(other.dueAt))
          const kind = DUE.find((each) => each === row?.kind)
          if (!row || !kind) return
          const amountCents = typeof row.amountCents === 'number' ? row.amountCents : null
          const before = log.events.length
          await flow.runScheduledJob(kind, WORKSPACE, {
            subjectId: String(row.subjectId),
            dueAt: Number(row.dueAt),
            amountCents,
          })
          project()
          if (log.events.length === before) throw new Error(`Due work changes nothing: ${JSON.stringify(row)}`)
        }
      }),
    /** A read store with the read models that queries sum and count. */
    async store() {
      const store = createMemoryReadStore()
      for (const projection of followed.filter(({ name }) => SUMMED.includes(name))) {
        const docs = [...(views.get(projection.name) ?? [])]
        const writes = docs.map(([id, doc]) => ({ collection: collectionOf(projection), id, doc, position: 0 }))
        await store.commit(writes, { name: projection.name, expected: null, next: { position: 0, at: null } })
      }
      return store
    },
  }
}
export type System = Awaited<ReturnType<typeof createSystem>>

/** Ids of the initial records, by name. */
export type Ids = ReadonlyMap<string, string>

async function createRecords(system: System): Promise<Ids> {
  const ids = new Map<string, string>()
  const of = (name: string | null) => (name === null ? null : (ids.get(name) ?? name))
  const done = async (command: AnyCommand, input: object, name?: string) => {
    const events = await system.act(command, input)
    if (isRefusal(events)) throw new Error(`${command.name}: ${JSON.stringify(events)}`)
    const made: unknown = events[0]?.data
    for (const record of Object.values(made && typeof made === 'object' ? made : {})) {
      if (name && record && typeof record === 'object' && 'id' in record) ids.set(name, String(record.id))
    }
  }
  await done(createWorkspace, { name: 'Acme Media', timezone: ZONE, planId: 'scale', sandbox: true })
  await done(creditWallet, { amountCents: FUNDS, reference: 'first' })
  for (const name of BUYERS) await done(createBuyer, { name }, name)
  for (const name of PUBLISHERS) {
    await done(createPublisher, { name }, name)
    await done(setPublisherStatus, { publisherId: of(name), status: 'live' })
  }
  const unanswered = { unroutedMessage: 'Nobody is here.', unroutedForwardE164: '+14155550300' }
  for (const name of CAMPAIGNS) await done(createCampaign, { name, verticalId: 'solar', ...unanswered }, name)
  for (const [n, { name, buyer, type }] of TARGETS.entries()) {
    const endpoint = type === 'sip' ? { sipUri: `sip:${name}@pbx.example.com` } : { destinationE164: `+1415555020${n}` }
    await done(createTarget, { name, type, buyerId: of(buyer), endpoint }, name)
    await done(setTargetStatus, { targetId: of(name), status: 'active' })
  }
  for (const { campaign, target } of ROUTES) {
    await done(setRoute, { campaignId: of(campaign), targetId: of(target), settings: {} })
  }
  for (const { campaign, publisher } of LANES) {
    const key = { prefix: 'rk_', hash: hashOf(`${campaign} ${publisher}`) }
    await done(setLane, { campaignId: of(campaign), publisherId: of(publisher), terms: {}, key })
  }
  for (const { e164, campaign, publisher } of NUMBERS) {
    await done(provisionNumber, { e164, type: 'local' }, e164)
    if (campaign === null) continue
    await done(assignNumber, { numberId: of(e164), campaignId: of(campaign), publisherId: of(publisher) })
    await done(reportNumberDelivery, { numberId: of(e164), error: null })
  }
  for (const name of CAMPAIGNS) await done(setCampaignStatus, { campaignId: of(name), status: 'live' })
  return ids
}

/** The day on which the initial records are created, before every history. */
const RECORDS_CREATED_AT = Date.UTC(2026, 0, 1)
let startingPoint: Promise<{ readonly ids: Ids; readonly events: readonly RecordedEvent[] }> | null = null

async function createRecordsOnce() {
  const system = await createSystem(RECORDS_CREATED_AT, 1)
  return { ids: await createRecords(system), events: system.log.events }
}

/** Opens the engine with the records of the model's world, at an instant. */
export async function openSystem(
  startsAt: number,
  seed: number,
): Promise<{ readonly system: System; readonly ids: Ids }> {
  startingPoint ??= createRecordsOnce()
  const { ids, events } = await startingPoint
  const system = await createSystem(startsAt, seed)
  await system.load(events)
  return { system, ids }
}
