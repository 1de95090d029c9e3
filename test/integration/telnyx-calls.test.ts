import { afterEach, describe, expect, test } from 'vitest'
import { CarrierRefused } from '../../src/ports/carrier-numbers.ts'
import type { Json } from '../support/e2e/api-client.ts'
import { playScenario, type Scenario } from '../support/fixtures/call-scenarios.ts'
import { WORKSPACE } from '../support/fixtures/spec.ts'
import { openTelnyxRig, type TelnyxRig } from '../support/fixtures/telnyx-rig.ts'

const open: TelnyxRig[] = []
afterEach(async () => {
  for (const rig of open.splice(0)) await rig.close()
})

async function opened(options: Parameters<typeof openTelnyxRig>[0] = {}): Promise<TelnyxRig> {
  const rig = await openTelnyxRig(options)
  open.push(rig)
  return rig
}

const CONNECTS: Scenario = {
  name: 'connects',
  targets: [{ dials: [{ result: 'answer', talkSeconds: 10 }] }],
  seconds: 30,
}
const FAILS_OVER: Scenario = {
  name: 'fails over',
  targets: [{ dials: [{ result: 'busy' }] }, { dials: [{ result: 'answer', talkSeconds: 10 }] }],
  seconds: 60,
}

const typesOf = (rig: TelnyxRig) => rig.events().calls.map(({ type }) => type)
const dataOf = (rig: TelnyxRig, type: string): readonly Json[] =>
  rig.events().calls.flatMap((event) => (event.type === type ? [event.data] : []))
const executed = ({ calls }: TelnyxRig, command: string): readonly Json[] =>
  calls.executed.flatMap((one) => (one.command === command ? [one.body] : []))
const CONNECTED = ['CallArrived', 'TargetDialed', 'TargetAnswered', 'CallEnded', 'CallSettled', 'RecordingSaved']
const FAILED_OVER = ['CallArrived', 'TargetDialed', 'TargetFailed', ...CONNECTED.slice(1)]

describe('webhooks in any order', () => {
  test.each<[string, (type: string) => readonly number[]]>([
    ['each twice', () => [0, 1]],
    ['each three times, the last much later', () => [0, 0, 20]],
    ['the call after its answer', (type) => (type === 'call.initiated' ? [2] : [0])],
    ['answers late', (type) => (type === 'call.answered' ? [1.5] : [0])],
    ['the end first', (type) => (type === 'call.hangup' ? [0] : [0.5, 1])],
    ['all a little late', () => [0.75]],
  ])('%s: the same call', async (_name, copies) => {
    const rig = await opened({ copies })
    await playScenario(rig, FAILS_OVER)
    expect(typesOf(rig)).toEqual(FAILED_OVER)
    expect(dataOf(rig, 'CallEnded')[0]).toMatchObject({ status: 'completed', talkSeconds: 10, hungUpBy: 'caller' })
    expect(executed(rig, 'dial')).toHaveLength(2)
  })

  test('one that never comes: a dial that rings for too long is given up and hung up', async () => {
    const rig = await opened({ copies: (type) => (type === 'call.hangup' ? [] : [0]) })
    await playScenario(rig, { ...FAILS_OVER, seconds: 80 })
    expect(dataOf(rig, 'TargetFailed')).toMatchObject([{ outcome: 'no_answer', sipCode: null }])
    expect(dataOf(rig, 'TargetAnswered')).toHaveLength(1)
  })

  test.each(['call.answered', 'call.speak.ended'])(
    '%s that never comes: a message ends all the same',
    async (missing) => {
      const rig = await opened({ copies: (type) => (type === missing ? [] : [0]) })
      const campaign = { unroutedAction: 'message', unroutedMessage: 'Nobody can take your call now.' }
      await playScenario(rig, { name: 'message', targets: [{ dials: [{ result: 'busy' }] }], campaign, seconds: 130 })
      expect(dataOf(rig, 'CallEnded')).toMatchObject([{ status: 'busy', hungUpBy: 'platform' }])
      expect(executed(rig, 'speak')).toHaveLength(1)
    },
  )

  test('the end that never comes: the call is asked after, and ended when it is gone', async () => {
    const rig = await opened({ copies: (type) => (type === 'call.hangup' ? [] : [0]) })
    await playScenario(rig, { ...CONNECTS, seconds: 15 * 60 })
    expect(dataOf(rig, 'CallEnded')).toMatchObject([{ status: 'completed', hungUpBy: 'unknown' }])
  }, 60_000)
})

describe('commands that go wrong', () => {
  test.each([
    ['is not answered', 'silent'],
    ['breaks off once it is done', 'truncated'],
    ['fails at the carrier', { status: 503, body: 'down', contentType: 'text/plain' }],
  ] as const)('a dial whose request %s is sent again, and done once', async (_name, fault) => {
    const rig = await opened()
    // The caller is answered first.
    rig.double.failNext(null, fault)
    await playScenario(rig, CONNECTS)
    expect(typesOf(rig)).toEqual(CONNECTED)
    expect(executed(rig, 'dial')).toHaveLength(1)
    expect(rig.double.requests.filter(({ path }) => path === '/v2/calls')).toHaveLength(2)
  })

  test('a carrier that is unavailable for too long fails the dial, and the next target is tried', async () => {
    const rig = await opened()
    const down = { status: 500, body: {} }
    rig.double.failNext(null, ...Array.from({ length: 9 }, () => down))
    await playScenario(rig, { ...FAILS_OVER, seconds: 90 })
    expect(dataOf(rig, 'TargetFailed')[0]).toMatchObject({ outcome: 'failed', sipCode: null, attempt: 1 })
    expect(typesOf(rig)).toContain('TargetAnswered')
  })

  test('a dial that is refused fails at once', async () => {
    const rig = await opened({ refuses: (command, nth) => command === 'dial' && nth === 1 })
    await playScenario(rig, FAILS_OVER)
    expect(dataOf(rig, 'TargetFailed')).toMatchObject([{ outcome: 'failed', sipCode: null, rangSeconds: 0 }])
    expect(typesOf(rig)).toContain('TargetAnswered')
  })

  test('a bridge that is refused is tried once more', async () => {
    const rig = await opened({ refuses: (command, nth) => command === 'bridge' && nth === 1 })
    await playScenario(rig, CONNECTS)
    expect(typesOf(rig)).toEqual(CONNECTED)
  })

  test('a bridge of whose answer nothing came is known by its webhooks', async () => {
    const rig = await opened({ refuses: (command, nth) => command === 'bridge' && nth > 1 })
    // Answer, dial, ringing on and off: then the bridge.
    rig.double.failNext(null, null, null, null, 'truncated')
    await playScenario(rig, CONNECTS)
    expect(executed(rig, 'bridge')).toHaveLength(1)
    expect(typesOf(rig)).toEqual(CONNECTED)
  })

  test('a bridge that is refused again fails the dial, and hangs the buyer up', async () => {
    const rig = await opened({ refuses: (command, nth) => command === 'bridge' && nth <= 2 })
    await playScenario(rig, {
      ...FAILS_OVER,
      targets: [{ dials: [{ result: 'answer' }] }, ...FAILS_OVER.targets.slice(1)],
    })
    expect(dataOf(rig, 'TargetFailed')).toMatchObject([{ attempt: 1, outcome: 'failed' }])
    expect(dataOf(rig, 'TargetAnswered')).toMatchObject([{ attempt: 2 }])
    expect(executed(rig, 'hangup').length).toBeGreaterThan(0)
  })

  test('what only adorns a call does not hold it up', async () => {
    const rig = await opened({
      refuses: (command) => ['playback_start', 'playback_stop', 'record_start'].includes(command),
    })
    await playScenario(rig, CONNECTS)
    expect(typesOf(rig)).toEqual(CONNECTED.slice(0, -1))
    expect(dataOf(rig, 'CallEnded')).toMatchObject([{ recorded: false }])
  })
})

describe('a process that is gone', () => {
  test('right after a webhook was answered: another goes on with the call', async () => {
    const rig = await opened()
    await rig.carrier.close()
    const plays = playScenario(rig, { ...CONNECTS, seconds: 1 })
    await plays
    expect(typesOf(rig)).toEqual([])
    await rig.reopen()
    await rig.pass(40)
    expect(typesOf(rig)).toEqual(CONNECTED)
  })

  test('under load: another process reports the events in their order', async () => {
    const rig = await opened()
    const busy = { ...FAILS_OVER, targets: FAILS_OVER.targets.slice(0, 1), hangsUpAfterSeconds: 4, seconds: 2 }
    await playScenario(rig, busy)
    await rig.carrier.close()
    await rig.pass(10)
    expect(typesOf(rig)).toEqual(['CallArrived', 'TargetDialed'])
    await rig.reopen()
    await rig.pass(20)
    expect(typesOf(rig)).toEqual([
      'CallArrived',
      'TargetDialed',
      'TargetFailed',
      'CallUnrouted',
      'CallEnded',
      'CallSettled',
    ])
    expect(dataOf(rig, 'TargetFailed')).toMatchObject([{ outcome: 'busy', rangSeconds: 3 }])
    expect(dataOf(rig, 'CallEnded')).toMatchObject([{ hungUpBy: 'caller' }])
  })

  test('while a target rings: another goes on with the call', async () => {
    const rig = await opened()
    await playScenario(rig, { ...FAILS_OVER, seconds: 2 })
    await rig.reopen()
    await rig.pass(60)
    expect(typesOf(rig)).toEqual(FAILED_OVER)
    expect(executed(rig, 'dial')).toHaveLength(2)
  })
})

describe('commands to the carrier', () => {
  test('a dial names its call, its caller and its decision', async () => {
    const rig = await opened()
    await playScenario(rig, CONNECTS)
    const [dial] = executed(rig, 'dial')
    const event = rig.engine.log.events.find(({ type }) => type === 'TargetDialed')
    const [arrived] = dataOf(rig, 'CallArrived')
    expect(dial).toMatchObject({
      connection_id: rig.double.connectionId,
      to: '+13125551000',
      from: '+14155550199',
      diversion: arrived?.arrival.dialedNumber,
      timeout_secs: 25,
      command_id: event?.meta.eventId,
    })
    expect(JSON.parse(Buffer.from(dial.client_state, 'base64').toString())).toEqual({
      session: arrived?.arrival.carrierCallId,
      purpose: { attempt: 1 },
    })
    expect(executed(rig, 'record_start')).toMatchObject([{ format: 'mp3', channels: 'dual' }])
  })

  test('a hidden caller stays hidden behind the number that was called', async () => {
    const rig = await opened()
    await playScenario(rig, { ...CONNECTS, from: null })
    const [dial] = executed(rig, 'dial')
    expect(dial).toMatchObject({ privacy: 'id', from: dataOf(rig, 'CallArrived')[0]?.arrival.dialedNumber })
    expect(dataOf(rig, 'CallArrived')[0]?.arrival.caller).toBeNull()
  })

  test('a sip target is dialled over its transport and port, with its password, and digits after the answer', async () => {
    const rig = await opened()
    const buyer = await rig.world.buyer({ name: 'Acme' })
    const endpoint = {
      sipUri: 'sip:desk@pbx.example.com',
      sipTransport: 'tcp',
      sipPort: 5070,
      sipAuthType: 'digest',
      sipUsername: 'desk',
      sipSecret: { sealed: 'sealed secret', last4: 'cret' },
      sendDigits: 'ww200#',
    }
    const target = await rig.world.target(buyer, { name: 'Desk', type: 'sip', endpoint })
    const { e164: to } = await rig.world.line({ name: 'Line' }, [target])
    await rig.place({ to, from: '+14155550199', script: {} })
    await rig.pass(10)
    expect(executed(rig, 'dial')).toMatchObject([
      {
        to: 'sip:desk@pbx.example.com:5070',
        sip_transport_protocol: 'TCP',
        sip_auth_username: 'desk',
        sip_auth_password: 'secret',
        send_digits_on_answer: 'ww200#',
      },
    ])
    expect(JSON.stringify(rig.engine.log.events.filter(({ stream }) => stream.startsWith('telnyx-')))).not.toContain(
      'secret"',
    )
  })

  test('a call on an unknown number is refused, and leaves no call', async () => {
    const rig = await opened()
    await rig.place({ to: '+13105559999', from: '+14155550199', script: {} })
    await rig.pass(5)
    expect(executed(rig, 'reject')).toHaveLength(1)
    expect(typesOf(rig)).toEqual([])
  })
})

describe('a dial without a caller', () => {
  const probe = async (rig: TelnyxRig, destination: string, callerId: string | null = '+13105550100') => {
    const command = { workspaceId: WORKSPACE, targetId: WORKSPACE, callerId, ringSeconds: 20 }
    let result: unknown = null
    const probed = rig.carrier.probe({ ...command, commandId: rig.engine.random.uuid(), destination }).then(
      (answer) => {
        result = answer
      },
      (error: unknown) => {
        result = error
      },
    )
    await rig.pass(45)
    await probed
    return result
  }

  test.each([
    ['answer', { outcome: 'answered', sipCode: null, ms: 3_000 }],
    ['busy', { outcome: 'busy', sipCode: 486, ms: 3_000 }],
    ['rejected', { outcome: 'rejected', sipCode: 603, ms: 3_000 }],
    ['unavailable', { outcome: 'failed', sipCode: 503, ms: 3_000 }],
    ['no_answer', { outcome: 'no_answer', sipCode: null, ms: 20_000 }],
  ] as const)('%s', async (result, expected) => {
    const rig = await opened()
    rig.calls.scriptProbe('+13125550001', { result })
    expect(await probe(rig, '+13125550001')).toEqual(expected)
    expect(executed(rig, 'hangup')).toHaveLength(result === 'answer' ? 1 : 0)
  })

  test('needs a number that it could come from', async () => {
    const rig = await opened()
    expect(await probe(rig, '+13125550001', null)).toBeInstanceOf(CarrierRefused)
    const { e164 } = await rig.world.number()
    expect(await probe(rig, '+13125550001', null)).toMatchObject({ outcome: 'answered' })
    expect(executed(rig, 'dial')).toMatchObject([{ from: e164 }])
  })
})
