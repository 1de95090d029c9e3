import { advanceOrder, connectNumber } from './number-orders.ts'
import { billNumber } from './renewals.ts'
import type { JobHandlers } from './scheduled-jobs.ts'

/** Handlers of the jobs that numbers and their orders schedule (`projections/supply/number-jobs.ts`). */
export const numberJobHandlers: JobHandlers = {
  order: (tools, { subjectId }, cause) => advanceOrder(tools, subjectId, cause),
  connect: (tools, { subjectId }, cause) => connectNumber(tools, subjectId, cause),
  renewal: (tools, { subjectId }, cause) => billNumber(tools, subjectId, cause),
}
