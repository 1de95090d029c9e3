import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ulid } from 'ulid'
import { v7 } from 'uuid'
import { workspaces } from '../../projections/access/workspaces.ts'
import type { ReadYourWrites } from '../api/read-your-writes.ts'
import { playCall, sandboxCall } from '../api/sandbox.ts'
import { user, userIdOf } from '../domain/access/user.ts'
import { call } from '../domain/calls/call.ts'
import { workspace } from '../domain/configuration/workspace.ts'
import { API_KEY } from '../domain/shared/limits.ts'
import { monthAfter } from '../domain/supply/renewal.ts'
import { streamOf } from '../kernel/entity.ts'
import { collectionOf } from '../kernel/projection.ts'
import { isRefusal } from '../kernel/refusal.ts'
import type { Clock } from '../ports/clock.ts'
import type { EventLog } from '../ports/event-log.ts'
import type { Random } from '../ports/random.ts'
import type { ReadStore } from '../ports/read-store.ts'
import type { Secrets } from '../ports/secrets.ts'
import type { Simulator } from '../ports/simulated-carrier.ts'
import type { CheckpointTracker } from '../runtime/projections/checkpoint-tracker.ts'
import type { StreamWriter } from '../runtime/write/stream-writer.ts'
import { type SeedCall, seedCalls, TIMEZONE } from './seed-calls.ts'
import { buildSupply, type SecretDerivation, sandboxSupply, storedSandboxKey } from './seed-supply.ts'
import { buildWorld, type CampaignKey, type SeedStep } from './seed-world.ts'
import { addApiKey, createTenant, derivedSecret, execute, openSession } from './tenants.ts'

const OWNER_EMAIL = 'owner@sandbox.example'
/** The owner's first session is among so many first events of theirs. */
const FIRST_EVENTS = 10
/** How long the start waits to have read what stands in the log already. */
const CATCH_UP_MS = 50_000

/** What a person needs to use the sandbox; null for what is not built yet (Supplement §11). */
export interface Sandbox {
  readonly baseUrl: string
  readonly agencyId: string
  readonly ownerEmail: string
  readonly ownerPassword: string
  readonly sessionToken: string
  readonly apiKey: string
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

/** The running platform that is seeded. */
export interface SeedPlatform {
  readonly log: Pick<EventLog, 'head' | 'read'>
  readonly writer: StreamWriter
  readonly readSide: { readonly positions: CheckpointTracker; readonly views: Pick<ReadStore, 'find'> }
  /** Null where the carrier is a real one. */
  readonly simulator: Simulator | null
  /** Waits until events of these types up to the newest can be read back. */
  readonly awaitProjections: (types: readonly string[]) => Promise<ReadYourWrites>
  readonly clock: Clock
  readonly random: Random
  readonly secrets: Secrets
}

/** Settings of the seed. */
export interface SeedSettings {
  readonly masterKey: Buffer
  /** Whether the sandbox begins with a week of calls. */
  readonly seedCalls: boolean
  /** Directory of `sandbox.json`. */
  readonly dataDir: string
}

/** Records by a field: numbers as they are written, and by id what was made first comes first. */
function sortedBy<Field extends string, Kept extends Readonly<Record<Field, string>>>(
  records: { readonly values: () => Iterable<Kept> },
  field: Field,
): readonly Kept[] {
  return [...records.values()].toSorted((one, other) => (one[field] < other[field] ? -1 : 1))
}

/** The sandbox workspace that is there already; null on an empty log. */
async function existingSandbox({ readSide, log }: SeedPlatform): Promise<string | null> {
  const head = await log.head()
  await readSide.positions.waitFor([workspaces.name], head, CATCH_UP_MS)
  const [found] = await readSide.views.find(collectionOf(workspaces), {
    filter: { sandbox: true },
    sort: { createdAt: 1 },
    limit: 1,
  })
  return found?.id ?? null
}

/** Whether the first start came to its end, which is when it opens the owner's first session. */
async function isSeeded({ log }: SeedPlatform): Promise<boolean> {
  const first = await log.read(streamOf(user, userIdOf(OWNER_EMAIL)), 0, FIRST_EVENTS)
  return first.some(({ type }) => type === 'SignedIn')
}

/** The id of a seed call: always the same, so that a start that was cut short plays no call twice. */
function seedCallId(workspaceId: string, name: string): string {
  const digest = createHash('sha256').update(`${workspaceId}\n${name}`).digest()
  return v7({
    msecs: Number.parseInt(workspaceId.replaceAll('-', '').slice(0, 12), 16),
    random: digest,
    seq: digest.readUInt32BE(16),
  })
}

async function playAll(
  app: SeedPlatform,
  simulator: Simulator,
  workspaceId: string,
  dial: Readonly<Record<CampaignKey, string>>,
): Promise<void> {
  const play = async ({ campaign, ...seeded }: SeedCall, n: number, line = 0) => {
    const callId = seedCallId(workspaceId, `${n}#${line}`)
    if (await app.writer.stateOf(call, callId)) return
    const sent = sandboxCall.parse({ ...seeded, to: dial[campaign], mode: 'instant' })
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
      clock: app.clock,
      random: { ...app.random, uuid: () => callId },
      awaitProjections: app.awaitProjections,
    }
    const played = await playCall(ports, workspaceId, sent, caller)
    if (isRefusal(played)) throw new Error(`A seed call was refused: ${played.refused}.`)
  }
  for (const [n, one] of seedCalls(app.clock.now()).entries()) {
    // Two callers at once, so that a single line is found taken.
    await Promise.all(one.campaign === 'busy' ? [play(one, n), play(one, n, 1)] : [play(one, n)])
  }
}

/**
 * Makes the sandbox workspace on the first start, with a week of calls, and writes `sandbox.json` anew with a fresh
 * session at each start (Supplement §11). A start that was cut short is taken up where it was left.
 */
export async function seedSandbox(app: SeedPlatform, config: SeedSettings, baseUrl: string): Promise<Sandbox> {
  const { writer, simulator, clock, random, secrets } = app
  const known = await existingSandbox(app)
  const workspaceId = known ?? random.uuid()
  const derive: SecretDerivation = (purpose) => derivedSecret(config.masterKey, `sandbox ${purpose}`, workspaceId)
  const ownerPassword = derivedSecret(config.masterKey, 'sandbox-password', workspaceId).slice(0, 20)
  const apiKey = `svc_test_${derivedSecret(config.masterKey, 'sandbox-api-key', workspaceId)}`
  await createTenant(writer, {
    workspaceId,
    name: 'Sandbox',
    timezone: TIMEZONE,
    planId: 'scale',
    sandbox: true,
    owner: { email: OWNER_EMAIL, name: 'Sandbox owner', password: ownerPassword },
  })
  if (!(await isSeeded(app))) {
    const key = { secret: apiKey, name: 'Sandbox key', ratePerMinute: API_KEY.ratePerMinute.max }
    await addApiKey(writer, workspaceId, key, 'seed:api-key')
    const step: SeedStep = (name, command, input) => execute(writer, workspaceId, command, input, `seed:${name}`)
    const renewsAt = monthAfter(new Date(clock.now()).toISOString())
    const { dial } = await buildWorld(step, (stem) => storedSandboxKey(derive, stem), renewsAt)
    await buildSupply(step, await writer.stateOf(workspace, workspaceId), { derive, secrets, renewsAt })
    if (config.seedCalls && simulator) await playAll(app, simulator, workspaceId, dial)
  }
  const sessionToken = await openSession(app, workspaceId, OWNER_EMAIL)
  const state = await writer.stateOf(workspace, workspaceId)
  const sandbox: Sandbox = {
    baseUrl,
    agencyId: workspaceId,
    ownerEmail: OWNER_EMAIL,
    ownerPassword,
    sessionToken,
    apiKey,
    ...sandboxSupply(state, { derive, secrets, baseUrl }),
    numbers: sortedBy(state.numbers, 'e164').map(({ id, e164, campaignId, publisherId }) => ({
      id,
      e164,
      campaignId,
      publisherId,
    })),
    campaigns: sortedBy(state.campaigns, 'id').map(({ id, name, routingMode }) => ({ id, name, routingMode })),
    targets: sortedBy(state.targets, 'id').map(({ id, name, type, buyerId }) => ({ id, name, type, buyerId })),
  }
  writeFileSync(join(config.dataDir, 'sandbox.json'), `${JSON.stringify(sandbox, null, 2)}\n`, { mode: 0o600 })
  return sandbox
}
