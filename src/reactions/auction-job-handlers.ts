import { recordConfirmation } from '../../commands/auctions/record-confirmation.ts'
import { releaseReservation } from '../../commands/auctions/release-reservation.ts'
import { instantText } from '../kernel/instant.ts'
import { JOB_SLOTS, type JobHandlers } from './scheduled-jobs.ts'

/** Handlers of the jobs that auctions schedule (`projections/auctions/auction-jobs.ts`). */
export const auctionJobHandlers: JobHandlers = {
  offer: {
    slots: JOB_SLOTS.offer,
    run: ({ run }, { subjectId: auctionId, dueAt }, cause) =>
      run(releaseReservation, { auctionId, reason: 'expired', occurredAt: instantText(dueAt) }, cause),
  },
  confirm: {
    slots: JOB_SLOTS.confirm,
    async run({ run, auctionOf, confirmWin, now }, { subjectId: auctionId }, cause) {
      const workspaceId = cause.meta.workspaceId ?? ''
      const state = await auctionOf(workspaceId, auctionId)
      const offer = state?.held?.offer
      if (!state?.held || !offer?.bidId || state.confirmed) return
      const made = await confirmWin(workspaceId, state.held)
      const nothing = [
        { at: instantText(now()), status: null, ms: 0, sentence: 'The bidder no longer wants to be told.' },
      ]
      const tries = made.length === 0 ? nothing : made
      const about = { auctionId, bidId: offer.bidId, target: offer.target, occurredAt: instantText(now()) }
      await run(recordConfirmation, { ...about, tries }, cause)
    },
  },
}
