import { JOB_SLOTS, type JobHandlers } from './scheduled-jobs.ts'

/** Handlers of the jobs that leases schedule (`projections/insertion/lease-jobs.ts`). */
export const leaseJobHandlers: JobHandlers = {
  lease_end: {
    slots: JOB_SLOTS.lease_end,
    run: ({ leaseEnds, run }, { subjectId: poolId }, cause) =>
      leaseEnds.endExpired((command, input) => run(command, input, cause), cause.meta.workspaceId ?? '', poolId),
  },
}
