import type { ScriptedDial } from '../../src/adapters/simulator/script.ts'
import type { Rig } from './carrier-rig.ts'

/** A caller from California. */
const CALLER = '+14155550199'

/** What every carrier must make the same of. */
export interface Scenario {
  readonly name: string
  /** Targets on the plan, in order: how each is dialled, and what becomes of its dials. */
  readonly targets: readonly { readonly endpoint?: object; readonly dials?: readonly ScriptedDial[] }[]
  readonly campaign?: object
  readonly from?: string | null
  readonly hangsUpAfterSeconds?: number
  /** How long it is watched. */
  readonly seconds: number
  /** Whether its end never comes, so that the platform looks into it. */
  readonly stuck?: boolean
}

const whisper = { text: 'A caller about a roof. Press one to take the call.', acceptDigit: '1' }
const failing = (result: ScriptedDial['result'], more: object = {}): Scenario => ({
  name: `fails over after ${result}`,
  targets: [{ dials: [{ result, ...more }] }, { dials: [{ result: 'answer', talkSeconds: 20 }] }],
  seconds: 60,
})

/** The life of calls, however they are carried. */
export const SCENARIOS: readonly Scenario[] = [
  { name: 'connects and talks until the caller hangs up', targets: [{}], seconds: 70 },
  {
    name: 'connects and talks until the buyer hangs up',
    targets: [{ dials: [{ result: 'answer', talkSeconds: 12, hungUpBy: 'buyer' }] }],
    seconds: 30,
  },
  failing('busy'),
  failing('rejected'),
  failing('failed'),
  failing('unavailable'),
  failing('no_answer'),
  {
    name: 'puts a buyer through who accepts the whisper',
    targets: [{ endpoint: { whisper }, dials: [{ result: 'answer', digits: '1', talkSeconds: 15 }] }],
    seconds: 30,
  },
  {
    name: 'goes on from a buyer who presses another key',
    targets: [
      { endpoint: { whisper }, dials: [{ result: 'answer', digits: '2' }] },
      { dials: [{ result: 'answer', talkSeconds: 15 }] },
    ],
    seconds: 40,
  },
  {
    name: 'goes on from a buyer who presses nothing',
    targets: [{ endpoint: { whisper }, dials: [{ result: 'answer' }] }, { dials: [{ result: 'busy' }] }],
    seconds: 40,
  },
  {
    name: 'puts a buyer through once a whisper without a key is heard',
    targets: [
      { endpoint: { whisper: { text: 'A caller about a roof.' } }, dials: [{ result: 'answer', talkSeconds: 15 }] },
    ],
    seconds: 30,
  },
  {
    name: 'the caller gives up while a target rings',
    targets: [{ dials: [{ result: 'answer', afterSeconds: 10 }] }],
    hangsUpAfterSeconds: 4,
    seconds: 20,
  },
  { name: 'the caller hangs up after the connection', targets: [{}], hangsUpAfterSeconds: 20, seconds: 40 },
  { name: 'the caller hides', targets: [{ dials: [{ result: 'answer', talkSeconds: 5 }] }], from: null, seconds: 20 },
  { name: 'nobody on the plan: hung up', targets: [], seconds: 5 },
  {
    name: 'nobody takes it: a message, then hung up',
    targets: [{ dials: [{ result: 'busy' }] }],
    campaign: { unroutedAction: 'message', unroutedMessage: 'Nobody can take your call now.' },
    seconds: 20,
  },
  {
    name: 'nobody takes it: forwarded',
    targets: [{ dials: [{ result: 'rejected' }] }],
    campaign: { unroutedAction: 'forward', unroutedForwardE164: '+13125559999' },
    seconds: 80,
  },
  {
    name: 'the caller gives up during a forward',
    targets: [],
    campaign: { unroutedAction: 'forward', unroutedForwardE164: '+13125559999' },
    hangsUpAfterSeconds: 10,
    seconds: 30,
  },
  {
    name: 'is recorded',
    targets: [{ dials: [{ result: 'answer', talkSeconds: 30 }] }],
    campaign: { recordCalls: true },
    seconds: 50,
  },
  {
    name: 'is not recorded',
    targets: [{ dials: [{ result: 'answer', talkSeconds: 30 }] }],
    campaign: { recordCalls: false },
    seconds: 50,
  },
  {
    name: 'a call whose end never comes is ended by the platform',
    targets: [{ dials: [{ result: 'answer', talkSeconds: 14_400 }] }],
    campaign: { recordCalls: false },
    seconds: 10,
    stuck: true,
  },
]

/** Plays a scenario. */
export async function play({ world, place, pass, lookIntoStuck }: Rig, scenario: Scenario): Promise<void> {
  const { targets, campaign = {}, from = CALLER, hangsUpAfterSeconds, seconds, stuck = false } = scenario
  const buyer = await world.buyer({ name: 'Acme' })
  const script: Record<string, readonly ScriptedDial[]> = {}
  const plan: string[] = []
  for (const [n, { endpoint = {}, dials }] of targets.entries()) {
    const destinationE164 = `+1312555${1_000 + n}`
    plan.push(await world.target(buyer, { name: `Target ${n}`, endpoint: { destinationE164, ...endpoint } }))
    if (dials) script[destinationE164] = dials
  }
  // A campaign without a target does not go live: one that takes no call of this caller's stands for none.
  const spare = await world.target(buyer, { name: 'Spare', states: ['NY'] })
  const { e164: to } = await world.line({ name: 'Line', recordCalls: true, ...campaign }, [
    ...plan,
    ...(plan.length === 0 ? [spare] : []),
  ])
  await place({ to, from, script, ...(hangsUpAfterSeconds !== undefined && { hangsUpAfterSeconds }) })
  await pass(seconds)
  if (stuck) await lookIntoStuck()
}

const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/
/** What carriers name, chance and time make differ. */
const OWN: ReadonlySet<string> = new Set([
  'callId',
  'carrierCallId',
  'carrierRecordingId',
  'seed',
  'format',
  'channels',
])

/** Facts without ids of the call's own and instants. */
export function facts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(facts)
  if (typeof value === 'string') return INSTANT.test(value) ? 'an instant' : value
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      OWN.has(key) || (key === 'id' && 'carrierRecordingId' in value) ? 'its own' : facts(inner),
    ]),
  )
}
