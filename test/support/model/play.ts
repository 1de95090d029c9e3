import { expect } from 'vitest'
import type { CarrierNotice } from '../../../src/ports/carrier.ts'
import { WORKSPACE } from '../fixtures/spec.ts'
import { arrive } from './arrivals.ts'
import { answer, catchUp, type FailureModel, fail, hangUp, ringingClaim } from './calls.ts'
import type { ModelAndSystem } from './edits.ts'
import { decisionOf, expectArrival, expectSearch } from './expectations.ts'
import { orderProblem } from './plan.ts'
import { type CallModel, type DialEnd, dayOf, hourOf, iso, monthOf, need } from './state.ts'

/** Model and system with the notices that the carrier has sent. */
export interface ModelRun extends ModelAndSystem {
  readonly notices: CarrierNotice[]
}

/** The outcome of a dial and its ringing time in milliseconds. */
export interface DialScript {
  readonly end: 'answer' | 'gives_up' | 'unavailable' | DialEnd
  readonly ringMs: number
  /** The `Retry-After` of an `unavailable` outcome. */
  readonly retryAfterSeconds: number | null
}

/** The lane whose routing key a SIP call carries. */
export interface RoutingKey {
  readonly campaign: string
  readonly publisher: string
}

const sendNotice = async ({ system, notices }: ModelRun, notice: CarrierNotice) => {
  notices.push(notice)
  return system.handleNotice(notice)
}

const noticeFields = (call: Pick<CallModel, 'id'>, at: number) => ({
  workspaceId: WORKSPACE,
  callId: call.id,
  at: iso(at),
})

/** A call as the carrier announces it. */
export interface AnnouncedCall {
  readonly dialed: string
  readonly caller: string | null
  readonly key: RoutingKey | null
}

export async function announce(line: ModelRun, { dialed, caller, key }: AnnouncedCall, at: number): Promise<CallModel> {
  const { model, system } = line
  const id = system.newId()
  const events = await sendNotice(line, {
    type: 'call-arrived',
    ...noticeFields({ id }, at),
    carrierCallId: `carrier-${id}`,
    to: dialed,
    from: caller,
    sipHeaders: key ? { 'X-Svc-Routing-Key': `${key.campaign} ${key.publisher}` } : {},
  })
  const decision = decisionOf(events)
  if (!decision || !('plan' in decision)) throw new Error('The arrival was not decided.')
  const order = decision.plan.map(({ targetName }) => targetName)
  const { call, passage, first, found } = arrive(model, { id, dialed, caller, key, at }, order)
  expectArrival(decision, call, passage, found)
  const campaign = call.campaign === null ? null : need(model.campaigns, call.campaign)
  if (call.admitted && call.offer) expect(order).toEqual(call.offer.plan.map(({ target }) => target))
  else if (call.admitted && campaign) expect(orderProblem(model, campaign, first, order)).toBeNull()
  return call
}

type Failing = DialScript & { readonly end: 'unavailable' | DialEnd }

const NO_CODE = { sipCode: null, retryAfterSeconds: null }
const FAILURES: Readonly<Record<Failing['end'], (script: Failing) => FailureModel>> = {
  no_answer: () => ({ outcome: 'no_answer', ...NO_CODE }),
  busy: () => ({ outcome: 'busy', sipCode: 486, retryAfterSeconds: null }),
  rejected: () => ({ outcome: 'rejected', ...NO_CODE }),
  failed: () => ({ outcome: 'failed', ...NO_CODE }),
  unavailable: ({ retryAfterSeconds }) => ({ outcome: 'failed', sipCode: 503, retryAfterSeconds }),
}

export async function failDial(line: ModelRun, call: CallModel, script: Failing, at: number): Promise<void> {
  const failure = FAILURES[script.end](script)
  const attempt = ringingClaim(call)?.attempt ?? 0
  const events = await sendNotice(line, {
    type: 'dial-failed',
    ...noticeFields(call, at),
    attempt,
    ...failure,
    whisperAccepted: null,
  })
  expectSearch(decisionOf(events), call, fail(line.model, call, failure, at))
}

async function answerDial(line: ModelRun, call: CallModel, at: number): Promise<void> {
  const attempt = ringingClaim(call)?.attempt ?? 0
  await sendNotice(line, { type: 'dial-answered', ...noticeFields(call, at), attempt, whisperAccepted: null })
  answer(line.model, call, at)
}

export async function endCall(
  line: ModelRun,
  call: CallModel,
  by: 'caller' | 'agent' | 'platform',
  at: number,
): Promise<void> {
  await sendNotice(line, { type: 'call-ended', ...noticeFields(call, at), hungUpBy: by, recorded: false })
  hangUp(line.model, call, by, at)
}

/** Runs due work on both sides. */
export async function runDueWork(line: ModelRun): Promise<void> {
  await line.system.runDueWork()
  catchUp(line.model)
}

const WINDOWS = { hour: hourOf, day: dayOf, month: monthOf } as const
export const HOUR = 3_600_000

/** The start of the window of an instant. */
export function edgeBefore(at: number, edge: keyof typeof WINDOWS): number {
  return Date.parse(
    `${WINDOWS[edge](at)}${{ hour: ':00:00.000Z', day: 'T00:00:00.000Z', month: '-01T00:00:00.000Z' }[edge]}`,
  )
}

const isFailing = (dial: DialScript): dial is Failing => dial.end in FAILURES

export async function resolveDial(line: ModelRun, call: CallModel, dial: DialScript, at: number): Promise<void> {
  if (isFailing(dial)) await failDial(line, call, dial, at)
  else await answerDial(line, call, at)
}

/** Starts a call that goes on step by step. */
export async function startCall(line: ModelRun, called: AnnouncedCall): Promise<void> {
  await announce(line, called, line.model.now)
}

export const openCalls = ({ model }: Pick<ModelAndSystem, 'model'>) => model.calls.filter(({ end }) => end === null)

/** Advances one open call: resolves its dial, or ends it. */
export async function advanceCall(
  line: ModelRun,
  pick: number,
  dial: DialScript,
  by: 'caller' | 'agent',
): Promise<void> {
  const open = openCalls(line)
  const call = open[pick % open.length]
  if (!call) return
  const { now } = line.model
  if (!ringingClaim(call) || dial.end === 'gives_up') await endCall(line, call, by, now)
  else await resolveDial(line, call, dial, now)
  await runDueWork(line)
}

/** The carrier repeats a notice, however late; nothing may change. */
export async function repeatNotice({ system, notices }: ModelRun, pick: number): Promise<void> {
  const notice = notices[pick % notices.length]
  if (notice) expect(await system.handleNotice(notice), 'what a repeated notice led to').toEqual([])
}

/** Moves time on, by an interval or close to the next edge of a window. */
export async function wait(line: ModelRun, ms: number, edge: keyof typeof WINDOWS | null): Promise<void> {
  const { model, system } = line
  const next =
    edge && edgeBefore(edgeBefore(model.now, edge) + { hour: HOUR, day: 24 * HOUR, month: 32 * 24 * HOUR }[edge], edge)
  model.now = next === null ? model.now + ms : Math.max(model.now, next + (ms % 4_000) - 2_000)
  system.moveTo(model.now)
  await runDueWork(line)
}

const BUFFERS_OVER = 2 * HOUR

/** Ends all calls and lets all buffers pass. */
export async function drain(line: ModelRun): Promise<void> {
  for (const call of openCalls(line)) await endCall(line, call, 'caller', line.model.now)
  await runDueWork(line)
  await wait(line, BUFFERS_OVER, null)
}
