import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { answerScript, type TenantClient } from './tenant-client.ts'
import { createTenantWorkspace } from './world.ts'

const DESK = '+13125550001'
const SWITCH = 'sip:desk@pbx.example'
export const ZONE = 'America/New_York'
export const FEBRUARY = { from: '2026-02-01', to: '2026-03-01' }

/** A workspace with two lines, one of a publisher, and another workspace without any. */
export async function createCallLogWorld(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main', timezone: ZONE })
  const acme = await main.buyer({ name: 'Acme' })
  const brick = await main.buyer({ name: 'Brick' })
  const desk = await main.target(acme, {
    name: 'Desk',
    endpoint: { destinationE164: DESK },
    durationThresholdSeconds: 60,
  })
  const pbx = await main.target(brick, {
    name: 'Switch',
    type: 'sip',
    endpoint: { sipUri: SWITCH },
    revenueCents: 5_000,
  })
  const publisherId = await main.publisher({ name: 'North' })
  const roofing = await main.line({ name: 'Roofing' }, [desk], {
    publisherId,
    terms: { payoutMode: 'fixed', payoutCents: 300 },
  })
  const solar = await main.line({ name: 'Solar', anonymousPolicy: 'block' }, [pbx])
  const other = await createTenantWorkspace(writer, { name: 'Other' })
  return { main, other, acme, brick, desk, pbx, publisherId, roofing, solar }
}

export type CallLogWorld = Awaited<ReturnType<typeof createCallLogWorld>>
export type CallName = keyof ReturnType<typeof scriptedCalls>

/** The call scripts of the world, by name, the oldest first. */
function scriptedCalls({ roofing, solar }: CallLogWorld) {
  return {
    long: {
      to: roofing.e164,
      from: '+13105550123',
      at: '2026-02-10T03:00:00.000Z',
      script: { [DESK]: answerScript(600) },
    },
    short: {
      to: roofing.e164,
      from: '+12125550123',
      at: '2026-02-10T15:00:00.000Z',
      script: { [DESK]: answerScript(20) },
    },
    gaveUp: { to: roofing.e164, from: '+13105550999', at: '2026-02-11T00:00:00.000Z', callerHangsUpAfterSeconds: 1 },
    lost: {
      to: roofing.e164,
      from: '+442071838750',
      at: '2026-02-11T12:00:00.000Z',
      script: { [DESK]: [{ result: 'busy' }] },
    },
    sold: {
      to: solar.e164,
      from: '+13105550123',
      at: '2026-02-12T12:00:00.000Z',
      script: { [SWITCH]: answerScript(60) },
    },
    hidden: { to: solar.e164, from: null, at: '2026-02-12T13:00:00.000Z' },
  } as const
}

/** The names of the calls, the oldest first. */
export const CALL_NAMES: readonly CallName[] = ['long', 'short', 'gaveUp', 'lost', 'sold', 'hidden']

/** Plays the calls of the world; returns their names by id. */
export async function playLoggedCalls(
  client: TenantClient,
  world: CallLogWorld,
): Promise<ReadonlyMap<string, CallName>> {
  const scripts = scriptedCalls(world)
  const names = new Map<string, CallName>()
  for (const name of CALL_NAMES) names.set((await client.playCall(scripts[name])).call.id, name)
  return names
}
