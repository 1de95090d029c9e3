import { z } from 'zod'
import { recordTargetTest } from '../../../commands/demand/record-target-test.ts'
import { workspace } from '../../domain/configuration/workspace.ts'
import { bidAnswer, bidResultOf, readBidAnswer, storedPathProblem } from '../../domain/demand/bid-answer.ts'
import type { Endpoint, Rtb } from '../../domain/demand/endpoint.ts'
import { destinationOf, refuseNoDestination, type Target, targetTestResult } from '../../domain/demand/target.ts'
import { createTestPing } from '../../domain/demand/test-ping.ts'
import { RTB, SECONDS } from '../../domain/shared/limits.ts'
import { refuseArchived, refuseNotFound } from '../../domain/shared/refusals.ts'
import { isRefusal } from '../../kernel/refusal.ts'
import { id } from '../../kernel/wire.ts'
import type { EgressResponse } from '../../ports/egress.ts'
import { bidHeaderPlace } from '../../ports/sealed-places.ts'
import { defineWriteRoute, type Write } from './write-route.ts'
import type { WriteTools } from './write-tools.ts'

const testResponse = z.object({
  /** Whether somebody answered the dial, or the bidder answered what can be read. */
  ok: z.boolean(),
  latencyMs: z.int(),
  result: targetTestResult,
  /** What was read out of a bidder's answer; null for a dial. */
  parsed: bidAnswer.nullable(),
  error: z.string().nullable(),
})
type TestResponse = Readonly<z.infer<typeof testResponse>>

/** What a carrier said that took no dial. */
function carrierMessage(error: unknown): string {
  return error instanceof Error && error.message !== '' ? error.message : 'The carrier did not take the dial.'
}

/** The target under test. */
interface TargetKey {
  readonly workspaceId: string
  readonly targetId: string
}

/** One real dial with no caller attached. */
async function dial(
  { carrier, random, clock }: WriteTools,
  { workspaceId, targetId }: TargetKey,
  destination: string,
  { callerIdMode, callerIdE164, ringTimeoutSeconds }: Endpoint,
): Promise<TestResponse> {
  const since = clock.now()
  try {
    const { outcome, sipCode, ms } = await carrier().probe({
      commandId: random.uuid(),
      workspaceId,
      targetId,
      destination,
      callerId: callerIdMode === 'fixed' ? callerIdE164 : null,
      ringSeconds: ringTimeoutSeconds ?? SECONDS.dialTimeout.default,
    })
    const ok = outcome === 'answered'
    const error = ok ? null : `The dial ended with ${outcome}${sipCode === null ? '' : ` (SIP ${sipCode})`}.`
    return { ok, latencyMs: Math.round(ms), result: outcome, parsed: null, error }
  } catch (error) {
    const latencyMs = clock.now() - since
    return { ok: false, latencyMs, result: 'failed', parsed: null, error: carrierMessage(error) }
  }
}

type BidderResult = Omit<TestResponse, 'latencyMs'>

function failed(error: string, result: 'timeout' | 'error' = 'error'): BidderResult {
  return { ok: false, result, parsed: null, error }
}

/** What a bidder's answer amounts to. */
function bidderResult(rtb: Rtb, answer: EgressResponse): BidderResult {
  if (!answer.ok) return failed(answer.sentence, answer.failure === 'timeout' ? 'timeout' : 'error')
  const { status, body } = answer
  if (status === 204) return { ok: true, result: 'no_bid', parsed: null, error: null }
  if (status < 200 || status > 299) return failed(`The bidder answered with status ${status}.`)
  const reading = readBidAnswer(rtb, body)
  if (!reading.ok) return failed(reading.sentence)
  return { ok: true, result: bidResultOf(reading.answer), parsed: reading.answer, error: null }
}

/** One ping, marked as a test; none where the answer could not be read. */
async function ping(
  { egress, secrets }: WriteTools,
  { workspaceId, targetId }: TargetKey,
  rtb: Rtb,
  bidUrl: string,
): Promise<TestResponse> {
  const refused = storedPathProblem(rtb)
  if (refused !== null) return { latencyMs: 0, ...failed(refused) }
  const opened = Object.entries(rtb.bidHeaders).map(([name, value]) => [
    name,
    secrets.unseal(value, bidHeaderPlace(workspaceId, targetId, name)),
  ])
  const request = {
    ...createTestPing({ ...rtb, bidHeaders: Object.fromEntries(opened) }, bidUrl),
    timeoutMs: rtb.timeoutMs,
    maxBytes: RTB.answerBytes,
  }
  const answer = await egress.send(request)
  return { latencyMs: Math.round(answer.ms), ...bidderResult(rtb, answer) }
}

function runTest(
  tools: WriteTools,
  workspaceId: string,
  target: Target,
  destination: string,
): Promise<TestResponse> | null {
  const { id: targetId, endpoint, rtb } = target
  const key = { workspaceId, targetId }
  if (rtb) return ping(tools, key, rtb, destination)
  return endpoint && dial(tools, key, destination, endpoint)
}

/** Tests a target: one dial or one ping, which books and counts nothing. */
export const testTarget: Write = defineWriteRoute({
  name: 'test-target',
  summary: 'Test a target',
  method: 'POST',
  mounts: [{ surface: 'console', path: '/api/tracking/targets/:id/test' }],
  params: z.object({ id }),
  pathRecords: { id: 'targets' },
  responses: { 200: testResponse },
  rejects: [...recordTargetTest.rejects, 'conflict'],
  async run({ params: { id }, tenant: { workspaceId }, tools, execute }) {
    const { targets } = await tools.writer.stateOf(workspace, workspaceId)
    const target = targets.get(id)
    if (!target) return refuseNotFound('target')
    if (target.status === 'archived') return refuseArchived('Target')
    const destination = destinationOf(target)
    const trial = destination === null ? null : runTest(tools, workspaceId, target, destination)
    if (!trial) return refuseNoDestination()
    const body = await trial
    const occurredAt = new Date(tools.clock.now()).toISOString()
    const { ok, result, latencyMs } = body
    const done = await execute(recordTargetTest, { targetId: id, occurredAt, ok, result, latencyMs })
    return isRefusal(done) ? done : { status: 200, body }
  },
})
