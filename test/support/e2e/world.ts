import { randomBytes } from 'node:crypto'
import { setImmediate as immediate } from 'node:timers/promises'
import { v7 } from 'uuid'
import { changeSeatRole } from '../../../commands/access/change-seat-role.ts'
import { changeSubscription } from '../../../commands/access/change-subscription.ts'
import { createApiKey } from '../../../commands/access/create-api-key.ts'
import { createWorkspace } from '../../../commands/access/create-workspace.ts'
import { grantSeat } from '../../../commands/access/grant-seat.ts'
import { registerUser } from '../../../commands/access/register-user.ts'
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
import { secretHash } from '../../../src/api/secret-hash.ts'
import type { PlanId } from '../../../src/domain/access/plans.ts'
import { scopes } from '../../../src/domain/access/scopes.ts'
import { userIdOf } from '../../../src/domain/access/user.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import type { AnyCommand } from '../../../src/kernel/command.ts'
import type { RecordedEvent } from '../../../src/kernel/event.ts'
import { readConfig } from '../../../src/main/config.ts'
import { projections } from '../../../src/main/registry.ts'
import { openLog, openOperationalStore, openReadStore } from '../../../src/main/stores.ts'
import { systemClock as clock, systemRandom as random } from '../../../src/main/system.ts'
import { START } from '../../../src/ports/event-log.ts'
import { readActivePositions } from '../../../src/runtime/projections/build-alias.ts'
import { createStreamWriter, type StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { execute, openSession } from '../../../src/seed/tenants.ts'
import { lookUpIn } from '../fixtures/look-up-in.ts'
import type { Json } from './api-client.ts'
import { waitUntil } from './server.ts'

/** What a new workspace has in its wallet. */
export const OPENING_BALANCE_CENTS = 100_000

/** Settings of a record, as sent over HTTP. */
type Settings = Readonly<Record<string, unknown>>

/** A target on a plan: its id, or the settings of its route. */
type PlanEntry = string | (Settings & { readonly targetId: string })

/** A campaign with a ready number. */
export interface CampaignLine {
  readonly campaignId: string
  readonly numberId: string
  readonly e164: string
}

/** Creates records of a workspace by the commands of its screens. */
export interface WorkspaceBuilder {
  readonly buyer: (settings: Settings) => Promise<string>
  /** A target, active unless its settings have another status. */
  readonly target: (buyerId: string, settings?: Settings) => Promise<string>
  readonly publisher: (settings: Settings) => Promise<string>
  /** A live campaign with a plan and a ready number; with `lane`, the number belongs to that publisher, on a lane with those terms. */
  readonly line: (
    settings: Settings,
    plan: readonly PlanEntry[],
    lane?: { readonly publisherId: string; readonly terms?: Settings },
  ) => Promise<CampaignLine>
  /**
   * A number without campaign, ready unless `ready` is false. A number that must never become ready ends
   * with 0005.
   */
  readonly number: (settings?: Settings) => Promise<{ readonly numberId: string; readonly e164: string }>
}

export interface Tenant extends WorkspaceBuilder {
  readonly workspaceId: string
  readonly name: string
  readonly email: string
  readonly session: string
  /** A key with every scope; null on a plan without keys. */
  readonly key: string | null
  /** Executes any command as the platform. */
  readonly act: (command: AnyCommand, input: unknown) => Promise<readonly RecordedEvent[]>
  readonly apiKey: (settings: Settings) => Promise<string>
}

function newToken(prefix: string): string {
  return `${prefix}${randomBytes(32).toString('base64url')}`
}

/** The id of the record created by the first event of a type. */
function createdId(events: readonly RecordedEvent[], type: string, record: string): string {
  const data: Json = events.find((event) => event.type === type)?.data
  return data[record].id
}

/** The hash of a password that nobody knows: these people act by session alone, and hashing one for each world takes its time. */
const NO_PASSWORD = '$argon2id$v=19$m=19456,t=2,p=1$lTtNx/f3ZUzLLVz6crOGdw$a75C2ROkfrN2teOf9M1vS423ioWUMTNzXDCCIVSrv64'

const fourDigits = (n: number) => String(n).padStart(4, '0')

/** Creates a builder that runs its commands through `handle`; `token` generates the secrets of routing keys. */
export function createWorkspaceBuilder(handle: Tenant['act'], token = newToken): WorkspaceBuilder {
  let numbers = 100
  let targetCount = 100

  const number = async ({ ready = true, e164: given, ...settings }: Settings = {}) => {
    const e164 = typeof given === 'string' ? given : `+1310555${fourDigits(numbers++)}`
    const numberId = createdId(
      await handle(provisionNumber, { e164, type: 'local', ...settings }),
      'NumberProvisioned',
      'number',
    )
    if (ready) await handle(reportNumberDelivery, { numberId, error: null })
    return { numberId, e164 }
  }
  return {
    number,
    buyer: async (settings) => createdId(await handle(createBuyer, settings), 'BuyerCreated', 'buyer'),
    async target(buyerId, { status = 'active', ...settings } = {}) {
      const n = targetCount++
      const endpoint = { destinationE164: `+1312555${fourDigits(n)}` }
      const sent = {
        name: `Desk ${n}`,
        type: 'number',
        revenueCents: 1_000,
        ...(settings.type ? {} : { endpoint }),
        ...settings,
        buyerId,
      }
      const targetId = createdId(await handle(createTarget, sent), 'TargetCreated', 'target')
      if (status !== 'draft') await handle(setTargetStatus, { targetId, status: 'active' })
      if (status === 'paused' || status === 'archived') await handle(setTargetStatus, { targetId, status })
      return targetId
    },
    async publisher({ status = 'live', ...settings }) {
      const publisherId = createdId(await handle(createPublisher, settings), 'PublisherCreated', 'publisher')
      if (status !== 'onboarding') await handle(setPublisherStatus, { publisherId, status: 'live' })
      if (status !== 'onboarding' && status !== 'live')
        await handle(setPublisherStatus, { publisherId, status, note: 'By hand' })
      return publisherId
    },
    async line(settings, plan, lane) {
      const sent = { verticalId: 'roofing', ...settings }
      const campaignId = createdId(await handle(createCampaign, sent), 'CampaignCreated', 'campaign')
      if (lane) {
        const secret = token('rk_')
        const key = { prefix: secret.slice(0, 12), hash: secretHash(secret) }
        await handle(setLane, { campaignId, publisherId: lane.publisherId, terms: lane.terms ?? {}, key })
      }
      for (const [place, planned] of plan.entries()) {
        const { targetId, ...stands } = typeof planned === 'string' ? { targetId: planned } : planned
        await handle(setRoute, { campaignId, targetId, settings: { priority: (place + 1) * 10, ...stands } })
      }
      const { numberId, e164 } = await number({ label: settings.name })
      await handle(assignNumber, { numberId, campaignId, publisherId: lane?.publisherId ?? null })
      await handle(setCampaignStatus, { campaignId, status: 'live' })
      return { campaignId, numberId, e164 }
    },
  }
}

/** Creates a sandbox workspace, unless `sandbox` is false, with an owner, a session and, where its plan has API access, a key. */
export async function createTenantWorkspace(
  writer: StreamWriter,
  {
    name = 'Acme',
    planId = 'scale',
    timezone = 'UTC',
    fundCents = OPENING_BALANCE_CENTS,
    sandbox = true,
  }: {
    readonly name?: string
    readonly planId?: PlanId
    readonly timezone?: string
    readonly fundCents?: number
    /** Only a sandbox workspace can place calls (Supplement §2). */
    readonly sandbox?: boolean
  } = {},
): Promise<Tenant> {
  const workspaceId = v7()
  const email = `${workspaceId}@tenant.example`
  const owner = { email, name: `${name} owner` }
  await execute(writer, workspaceId, registerUser, { ...owner, passwordHash: NO_PASSWORD })
  await execute(writer, workspaceId, createWorkspace, { name, timezone, planId, sandbox, owner })
  // One millisecond per command, so that lists order records as they were created.
  const handle = async (command: AnyCommand, input: unknown) => {
    const done = await execute(writer, workspaceId, command, input)
    const now = Date.now()
    while (Date.now() === now) await immediate()
    return done
  }
  if (fundCents > 0) await handle(creditWallet, { amountCents: fundCents, reference: 'opening' })

  const apiKey = async (settings: Settings) => {
    const secret = newToken('svc_live_')
    const stored = { prefix: secret.slice(0, 12), hash: secretHash(secret) }
    await handle(createApiKey, { name: 'Key', scopes: [...scopes], rateLimitPerMinute: 1_200, ...settings, ...stored })
    return secret
  }
  return {
    workspaceId,
    name,
    email,
    session: await openSession({ writer, clock, random }, workspaceId, email),
    key: planId === 'starter' ? null : await apiKey({ name: 'Full key' }),
    act: handle,
    apiKey,
    ...createWorkspaceBuilder(handle),
  }
}

/** Grants a user a seat of a tenant, or changes the role of the seat. */
export async function grantRole(
  writer: StreamWriter,
  email: string,
  tenant: Tenant,
  role: 'owner' | 'admin' | 'member',
): Promise<void> {
  const { seats } = await writer.stateOf(workspace, tenant.workspaceId)
  const userId = userIdOf(email)
  if (!seats.has(userId)) {
    await tenant.act(grantSeat, { email, name: email, role })
    return
  }
  if (role !== 'owner') {
    // A workspace keeps an owner.
    const spare = `spare-${v7()}@tenant.example`
    await tenant.act(registerUser, { email: spare, name: 'Spare owner', passwordHash: NO_PASSWORD })
    await tenant.act(grantSeat, { email: spare, name: 'Spare owner', role: 'owner' })
  }
  await tenant.act(changeSeatRole, { userId, role })
}

/** Archives a live campaign, after removing its number. */
export async function archiveCampaign({ act }: Tenant, { campaignId, numberId }: CampaignLine): Promise<void> {
  await act(assignNumber, { numberId, campaignId: null })
  for (const status of ['paused', 'archived']) await act(setCampaignStatus, { campaignId, status })
}

/** Cancels a workspace's subscription. */
export function cancelSubscription({ act }: Tenant): Promise<unknown> {
  return act(changeSubscription, { subscriptionStatus: 'canceled' })
}

/** The stores that an environment names, in this thread, and a writer over them. */
async function openStores(env: Readonly<Record<string, string>>) {
  const { eventLogUrl, readStoreUrl } = readConfig(env)
  const log = await openLog(eventLogUrl)
  const ops = await openOperationalStore(readStoreUrl)
  const views = await openReadStore(readStoreUrl, { follows: true })
  const writer = createStreamWriter({ log, ops, clock, random, lookUp: lookUpIn(log, views, clock) })
  return {
    log,
    views,
    writer,
    async close() {
      await writer.close()
      await Promise.all([log.close(), ops.close(), views.close()])
    },
  }
}

/** Makes a world in the stores that an environment names, through the commands. No platform runs over them yet. */
export async function createWorldIn<World>(
  env: Readonly<Record<string, string>>,
  build: (writer: StreamWriter) => Promise<World>,
): Promise<World> {
  const { writer, close } = await openStores(env)
  try {
    return await build(writer)
  } finally {
    await close()
  }
}

/** Makes worlds beside a running platform. */
export type WorldMaker = <World>(build: (writer: StreamWriter) => Promise<World>) => Promise<World>

/** A maker whose stores stay open; each world is there once the platform has projected it. */
export async function openWorldMaker(env: Readonly<Record<string, string>>): Promise<WorldMaker> {
  const { log, views, writer } = await openStores(env)
  return async (build) => {
    const world = await build(writer)
    const head = await log.head()
    await waitUntil('The world is projected', async () => {
      const positions = await readActivePositions(views, projections)
      return projections.every(({ name }) => (positions.get(name) ?? START) >= head)
    })
    return world
  }
}
