import type { CarrierNotice } from '../../../src/ports/carrier.ts'
import type { Retry } from './cluster.ts'
import { type RunContext, runAfter } from './run-context.ts'

/** Delivers the carrier's notices: some are lost, some come twice or late, and all others until they are accepted. */
export function createNoticeDelivery(context: RunContext, retryUntilDone: Retry) {
  const { chance, profile } = context
  const acknowledged = new Set<string>()
  const recorded = new Set<string>()
  /** Calls whose arrival was never delivered: the carrier sends nothing more about them. */
  const unknown = new Set<string>()
  /** Calls whose answer was never delivered: their recording cannot be accepted. */
  const unanswered = new Set<string>()

  const send = (notice: CarrierNotice) =>
    retryUntilDone(`${notice.type} ${notice.callId}`, async ({ listen }) => {
      await listen(notice)
      if (notice.type === 'call-arrived') acknowledged.add(notice.callId)
      if (notice.type === 'recording-saved') recorded.add(notice.callId)
    })

  return {
    /** Calls whose arrival was acknowledged. */
    acknowledged,
    /** Calls whose recording was acknowledged. */
    recorded,
    deliver(notice: CarrierNotice): void {
      if (context.faulty && chance.odds(profile.lostNotices)) {
        if (notice.type === 'call-arrived') unknown.add(notice.callId)
        if (notice.type === 'dial-answered') unanswered.add(notice.callId)
        return
      }
      if (unknown.has(notice.callId)) return
      if (notice.type === 'recording-saved' && unanswered.has(notice.callId)) return
      const copies = context.faulty && chance.odds(profile.duplicateNotices) ? 2 : 1
      for (let copy = 0; copy < copies; copy += 1) {
        const late = context.faulty && chance.odds(profile.lateNotices)
        runAfter(context, late ? chance.between(100, 8_000) : chance.pick(30), () => send(notice))
      }
    },
  }
}
