import { advanceOrder, connectNumber } from './number-orders.ts'
import { billNumber } from './renewals.ts'
import { JOB_SLOTS, type JobHandlers } from './scheduled-jobs.ts'

/** Handlers of the jobs that numbers and their orders schedule (`projections/supply/number-jobs.ts`). */
export const numberJobHandlers: JobHandlers = {
  order: {
    slots: JOB_SLOTS.order,
    run: (tools, { subjectId }, cause) => advanceOrder(tools, subjectId, cause),
  },
  connect: {
    slots: JOB_SLOTS.connect,
    run: (tools, { subjectId }, cause) => connectNumber(tools, subjectId, cause),
  },
  renewal: {
    slots: JOB_SLOTS.renewal,
    run: (tools, { subjectId }, cause) => billNumber(tools, subjectId, cause),
  },
}
