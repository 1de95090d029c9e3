import { z } from 'zod'
import { recordTargetTest } from '../../../commands/demand/record-target-test.ts'
import { bidderSentence, readBid, withoutHeaders } from '../../domain/bidding/bid.ts'
import { createTestRequest } from '../../domain/bidding/bid-request.ts'
import { workspace } from '../../domain/configuration/workspace.ts'
import { bidAnswer, storedPathProblem } from '../../domain/demand/bid-answer.ts'
import type { Endpoint, Rtb } from '../../domain/demand/endpoint.ts'
import { destinationOf, refuseNoDestination, type Target, targetTestResult } from '../../domain/demand/target.ts'
import type { Named } from '../../domain/shared/fields.ts'
import { RTB, SECONDS } from '../../domain/shared/limits.ts'
import { refuseArchived, refuseNotFound } from '../../domain/shared/refusals.ts'
import { isRefusal } from '../../kernel/refusal.ts'
import { id } from '../../kernel/wire.ts'
import type { EgressResponse } from '../../ports/egress.ts'
import { openBidHeaders } from '../../reactions/ask-bidders.ts'
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

/** The bidder under test. */
interface BidderUnderTest extends Pick<Target, 'id' | 'name' | 'externalRef'> {
  readonly workspaceId: string
  /** Whether the workspace is a sandbox. */
  readonly ownSandbox: boolean
  readonly buyer: Named
}

type BidderResult = Omit<TestResponse, 'latencyMs'>

function failed(error: string, result: 'timeout' | 'error' = 'error'): BidderResult {
  return { ok: false, result, parsed: null, error }
}

/** What a bidder's answer amounts to. The headers are those that it was sent. */
function bidderResult(rtb: Rtb, response: EgressResponse): BidderResult {
  const { status, answer, problem } = withoutHeaders(readBid(rtb, response), rtb.bidHeaders)
  if (status === 'timeout' || status === 'error') return failed(bidderSentence('The bidder', problem ?? ''), status)
  return { ok: true, result: status, parsed: answer, error: null }
}

/** One ping, marked as a test; none where the answer could not be read. */
async function ping(
  { egress, secrets, random, clock }: WriteTools,
  { id, name, externalRef, workspaceId, ownSandbox, buyer }: BidderUnderTest,
  rtb: Rtb,
  bidUrl: string,
): Promise<TestResponse> {
  const refused = storedPathProblem(rtb)
  if (refused !== null) return { latencyMs: 0, ...failed(refused) }
  const opened = { ...rtb, bidUrl, bidHeaders: openBidHeaders(secrets, workspaceId, id, rtb.bidHeaders) }
  const bidder = { bidId: random.uuid(), target: { id, name, ref: externalRef }, buyer }
  const request = createTestRequest(opened, bidder, new Date(clock.now()).toISOString())
  const answer = await egress.send({ ...request, timeoutMs: rtb.timeoutMs, maxBytes: RTB.answerBytes, ownSandbox })
  return { latencyMs: Math.round(answer.ms), ...bidderResult(opened, answer) }
}

function runTest(
  tools: WriteTools,
  workspaceId: string,
  { target, ...bidder }: { readonly target: Target; readonly buyer: Named; readonly ownSandbox: boolean },
  destination: string,
): Promise<TestResponse> | null {
  const { id: targetId, endpoint, rtb } = target
  if (rtb) return ping(tools, { ...target, ...bidder, workspaceId }, rtb, destination)
  return endpoint && dial(tools, { workspaceId, targetId }, destination, endpoint)
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
    const { targets, buyers, workspace: own } = await tools.writer.stateOf(workspace, workspaceId)
    const target = targets.get(id)
    if (!target) return refuseNotFound('target')
    if (target.status === 'archived') return refuseArchived('Target')
    const destination = destinationOf(target)
    const buyer = { id: target.buyerId, name: buyers.get(target.buyerId)?.name ?? '' }
    const trial =
      destination === null
        ? null
        : runTest(tools, workspaceId, { target, buyer, ownSandbox: own?.sandbox ?? false }, destination)
    if (!trial) return refuseNoDestination()
    const body = await trial
    const occurredAt = new Date(tools.clock.now()).toISOString()
    const { ok, result, latencyMs } = body
    const done = await execute(recordTargetTest, { targetId: id, occurredAt, ok, result, latencyMs })
    return isRefusal(done) ? done : { status: 200, body }
  },
})
