import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ulid } from 'ulid'
import { v7 } from 'uuid'
import type { z } from 'zod'
import { sessions } from '../../projections/access/sessions.ts'
import type { AuctionDesk } from '../api/auctions/hold-ping.ts'
import type { ReadYourWrites } from '../api/read-your-writes.ts'
import { playCall, sandboxCall } from '../api/sandbox.ts'
import { SANDBOX_OWNER } from '../api/sandbox-workspace.ts'
import { secretHash } from '../api/secret-hash.ts'
import { user, userIdOf } from '../domain/access/user.ts'
import { call } from '../domain/calls/call.ts'
import { type WorkspaceState, workspace } from '../domain/configuration/workspace.ts'
import { API_KEY } from '../domain/shared/limits.ts'
import { monthAfter } from '../domain/supply/renewal.ts'
import type { AnyCommand } from '../kernel/command.ts'
import { streamOf } from '../kernel/entity.ts'
import { isRefusal } from '../kernel/refusal.ts'
import type { Clock } from '../ports/clock.ts'
import type { EventLog } from '../ports/event-log.ts'
import type { OperationalStore } from '../ports/operational-store.ts'
import type { Random } from '../ports/random.ts'
import type { ReadStore } from '../ports/read-store.ts'
import type { Secrets } from '../ports/secrets.ts'
import type { Simulator } from '../ports/simulated-carrier.ts'
import type { LeaseOfCall } from '../reactions/call-leases.ts'
import type { AuctionPorts } from '../reactions/tools.ts'
import type { CheckpointTracker } from '../runtime/projections/checkpoint-tracker.ts'
import type { StreamWriter } from '../runtime/write/stream-writer.ts'
import { AUCTION_NUMBER, buildAuctions, followAddress } from './seed-auctions.ts'
import { type SeedCall, type SeededWorkspace, seedCalls, seedDays, TIMEZONE } from './seed-calls.ts'
import { type PingPlayer, playPings } from './seed-pings.ts'
import { buildSupply, POOLED, type SecretDerivation, sandboxSupply, storedSandboxKey } from './seed-supply.ts'
import { buildWebhooks, followReceiver } from './seed-webhooks.ts'
import { buildWorld, CAMPAIGN_NUMBERS, type CampaignKey, type SeedStep } from './seed-world.ts'
import { addApiKey, createTenant, execute, openSession } from './tenants.ts'

/** Maximum events of the owner before the first sign-in, with a margin. */
const FIRST_EVENTS = 10
/** Maximum wait (ms) until the session of `sandbox.json` can be used. */
const SESSION_WAIT_MS = 5_000

/** Contents of `sandbox.json`: how to reach and use the sandbox (Supplement §11). Null: not available. */
export interface Sandbox {
  readonly baseUrl: string
  readonly agencyId: string
  readonly ownerEmail: string
  readonly ownerPassword: string
  readonly sessionToken: string
  readonly apiKey: string | null
  readonly routingKey: string | null
  readonly compatUrl: string | null
  readonly poolKey: string | null
  readonly numbers: readonly {
    readonly id: string
    readonly e164: string
    readonly campaignId: string | null
    readonly publisherId: string | null
  }[]
  readonly campaigns: readonly { readonly id: string; readonly name: string; readonly routingMode: string }[]
  readonly targets: readonly {
    readonly id: string
    readonly name: string
    readonly type: string
    readonly buyerId: string
  }[]
}

/** The running platform to seed. */
export interface SeedPlatform {
  readonly log: Pick<EventLog, 'head' | 'read'>
  readonly writer: StreamWriter
  readonly readSide: { readonly positions: CheckpointTracker; readonly views: Pick<ReadStore, 'getMany'> }
  /** Null with a real carrier. */
  readonly simulator: Simulator | null
  /** Waits until the projections have read the newest events of these types. */
  readonly awaitProjections: (types: readonly string[]) => Promise<ReadYourWrites>
  /** The routes that the platform has. */
  readonly routes: readonly { readonly path: string }[]
  readonly clock: Clock
  readonly random: Random
  readonly secrets: Secrets
  readonly auctions: AuctionPorts
  readonly insertion: { readonly tools: { readonly leaseOf: LeaseOfCall } }
  /** What pings are judged with. */
  readonly desk: AuctionDesk
  readonly ops: OperationalStore
  readonly entries: PingPlayer['entries']
}

/** Settings of the seed. */
export interface SeedSettings {
  /** Whether to play a week of calls on the first start. */
  readonly seedCalls: boolean
  /** Directory of `sandbox.json`. */
  readonly dataDir: string
}

/** Records sorted by id. Ids are UUIDv7, so this is the order of their creation. */
function sortedById<Item extends { readonly id: string }>(records: {
  readonly values: () => Iterable<Item>
}): readonly Item[] {
  return [...records.values()].toSorted((one, other) => (one.id < other.id ? -1 : 1))
}

/** Numbers of the seed, in its order. */
const SEEDED = [...CAMPAIGN_NUMBERS, ...POOLED, AUCTION_NUMBER]

/** The workspace's numbers: those of the seed in its order, then those bought since in the order of their purchase. */
function sandboxNumbers({ numbers, numberIds }: WorkspaceState): Sandbox['numbers'] {
  const seeded = SEEDED.flatMap((e164) => numbers.get(numberIds.get(e164) ?? '') ?? [])
  const bought = sortedById(numbers).filter((number) => !seeded.includes(number))
  return [...seeded, ...bought].map(({ id, e164, campaignId, publisherId }) => ({ id, e164, campaignId, publisherId }))
}

/** Whether the workspace has an API key with this secret that works. */
function hasApiKey({ apiKeys }: WorkspaceState, secret: string): boolean {
  const hash = secretHash(secret)
  return [...apiKeys.values()].some(
    ({ status, secrets }) =>
      status !== 'revoked' && secrets.some((stored) => stored.hash === hash && stored.expiresAt === null),
  )
}

/**
 * Id of the workspace for which the first start has registered the owner, whatever else of it is there; null when there is none yet.
 * @throws LogUnavailable
 */
async function registeredSandbox({ log }: SeedPlatform): Promise<string | null> {
  const [registration] = await log.read(streamOf(user, userIdOf(SANDBOX_OWNER)), 0, 1)
  return registration?.meta.workspaceId ?? null
}

/** Whether seeding was completed: its last step opens the owner's first session. */
async function isSeeded({ log }: SeedPlatform): Promise<boolean> {
  const first = await log.read(streamOf(user, userIdOf(SANDBOX_OWNER)), 0, FIRST_EVENTS)
  return first.some(({ type }) => type === 'SignedIn')
}

/** The id of what the seed plays: deterministic, so that an interrupted start plays nothing twice. */
function seededId(workspaceId: string, name: string): string {
  const digest = createHash('sha256').update(`${workspaceId}\n${name}`).digest()
  return v7({
    msecs: Number.parseInt(workspaceId.replaceAll('-', '').slice(0, 12), 16),
    random: digest,
    seq: digest.readUInt32BE(16),
  })
}

/** Plays calls, each once by its name. */
type PlayOnce = (name: string, sent: z.input<typeof sandboxCall>) => Promise<void>

function createPlayer(app: SeedPlatform, simulator: Simulator, { workspaceId, isResumed }: SeededWorkspace): PlayOnce {
  return async (name, sent) => {
    const callId = seededId(workspaceId, name)
    if (isResumed && (await app.writer.stateOf(call, callId, workspaceId))) return
    const commandId = ulid()
    const caller = {
      workspaceId,
      actor: { type: 'system', id: null, name: 'Sandbox' },
      commandId,
      correlationId: commandId,
      causationId: null,
      surface: 'sandbox',
      ip: null,
    } as const
    const ports = {
      writer: app.writer,
      simulator,
      ...app.auctions,
      leaseOf: app.insertion.tools.leaseOf,
      clock: app.clock,
      random: { ...app.random, uuid: () => callId },
      awaitProjections: app.awaitProjections,
    }
    // What is called has been configured before the first call.
    const played = await playCall(ports, workspaceId, sandboxCall.parse(sent), caller, Number.POSITIVE_INFINITY)
    if (isRefusal(played)) throw new Error(`A seed call was refused: ${played.refused}.`)
  }
}

/** Campaigns whose calls must come one after the other: what was counted before decides. */
const IN_TURN: ReadonlySet<CampaignKey> = new Set(['busy', 'capped', 'once', 'strict'])

/** Plays the week of calls, one day after the other; the calls of a day side by side, but for those of campaigns in turn. */
async function playWeek(app: SeedPlatform, playOnce: PlayOnce, dial: ReadonlyMap<CampaignKey, string>): Promise<void> {
  const play = ({ campaign, ...seeded }: SeedCall & { readonly at: string }, n: number, line = 0) =>
    playOnce(`${n}#${line}`, { ...seeded, to: dial.get(campaign) ?? '', mode: 'instant' })
  const calls = seedCalls(app.clock.now()).map((one, n) => ({ one, n }))
  for (const day of seedDays(calls, ({ one }) => Date.parse(one.at))) {
    const campaigns = Map.groupBy(day, ({ one }) => one.campaign)
    await Promise.all(
      [...campaigns].map(async ([campaign, own]) => {
        if (!IN_TURN.has(campaign)) return Promise.all(own.map(({ one, n }) => play(one, n)))
        for (const { one, n } of own) {
          // Two simultaneous calls, so that the second finds the single line in use.
          await Promise.all(campaign === 'busy' ? [play(one, n), play(one, n, 1)] : [play(one, n)])
        }
      }),
    )
  }
}

/**
 * Creates the sandbox workspace with a week of calls on the first start, and writes `sandbox.json` with a new session on
 * every start (Supplement §11). Resumes an interrupted start.
 * @throws Error when a step is refused; LogUnavailable, StoreUnavailable
 */
export async function seedSandbox(app: SeedPlatform, config: SeedSettings, baseUrl: string): Promise<Sandbox> {
  const { writer, simulator, clock, random, secrets, ops, entries, desk } = app
  const registered = await registeredSandbox(app)
  const workspaceId = registered ?? random.uuid()
  // Derived, so that only their hashes need to be stored.
  const derivedFor = (purpose: string) => secrets.derive(`${purpose}\n${workspaceId}`)
  const idOf = (name: string) => seededId(workspaceId, name)
  const derive: SecretDerivation = (purpose) => derivedFor(`sandbox ${purpose}`)
  const ownerPassword = derivedFor('sandbox-password').slice(0, 20)
  const apiKey = `svc_test_${derivedFor('sandbox-api-key')}`
  await createTenant(writer, {
    workspaceId,
    name: 'Sandbox',
    timezone: TIMEZONE,
    planId: 'scale',
    sandbox: true,
    owner: { email: SANDBOX_OWNER, name: 'Sandbox owner', password: ownerPassword },
  })
  if (!(await isSeeded(app))) {
    const key = { secret: apiKey, name: 'Sandbox key', ratePerMinute: API_KEY.ratePerMinute.max }
    await addApiKey(writer, workspaceId, key, 'seed:api-key')
    const step: SeedStep = (name, command, input) => execute(writer, workspaceId, command, input, `seed:${name}`)
    const renewsAt = monthAfter(new Date(clock.now()).toISOString())
    const newKey = (stem: string) => storedSandboxKey(derive, stem)
    const world = await buildWorld(step, newKey, renewsAt)
    await buildSupply(step, await writer.stateOf(workspace, workspaceId), { workspaceId, derive, secrets, renewsAt })
    const context = { workspaceId, ops, secrets, derive, idOf, baseUrl, newKey, renewsAt }
    const lane = await buildAuctions(step, world, context)
    if (config.seedCalls && simulator) {
      const seeded = { workspaceId, isResumed: registered !== null }
      const playOnce = createPlayer(app, simulator, seeded)
      await playWeek(app, playOnce, world.dial)
      const playCallOf: PingPlayer['call'] = (name, sent) => playOnce(name, { ...sent, mode: 'instant' })
      await playPings({ desk, entries, call: playCallOf, idOf }, seeded, lane)
    }
    await buildWebhooks(step, { workspaceId, ops, secrets, idOf, baseUrl, now: clock.now() })
  }
  const before = await writer.stateOf(workspace, workspaceId)
  const run = (command: AnyCommand, input: unknown) => execute(writer, workspaceId, command, input)
  await followAddress(run, before, { idOf, baseUrl })
  await followReceiver(run, before, { idOf, baseUrl })
  const sessionToken = await openSession(app, workspaceId, SANDBOX_OWNER)
  await app.readSide.positions.waitFor([sessions.name], await app.log.head(), SESSION_WAIT_MS)
  const state = await writer.stateOf(workspace, workspaceId)
  const hasRoutes = (below: string) => app.routes.some(({ path }) => path.startsWith(below))
  const sandbox: Sandbox = {
    baseUrl,
    agencyId: workspaceId,
    ownerEmail: SANDBOX_OWNER,
    ownerPassword,
    sessionToken,
    apiKey: hasApiKey(state, apiKey) ? apiKey : null,
    ...sandboxSupply(state, { workspaceId, derive, secrets, baseUrl, hasRoutes }),
    numbers: sandboxNumbers(state),
    campaigns: sortedById(state.campaigns).map(({ id, name, routingMode }) => ({ id, name, routingMode })),
    targets: sortedById(state.targets).map(({ id, name, type, buyerId }) => ({ id, name, type, buyerId })),
  }
  writeFileSync(join(config.dataDir, 'sandbox.json'), `${JSON.stringify(sandbox, null, 2)}\n`, { mode: 0o600 })
  return sandbox
}
