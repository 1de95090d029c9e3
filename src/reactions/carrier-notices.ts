import { endCall } from '../../commands/end-call.ts'
import { recordAnswer } from '../../commands/record-answer.ts'
import { recordFailure } from '../../commands/record-failure.ts'
import { routeCall } from '../../commands/route-call.ts'
import type { AnyCommand } from '../kernel/command.ts'
import type { CarrierNotice } from '../ports/carrier.ts'

type Told<Type extends CarrierNotice['type']> = Extract<CarrierNotice, { readonly type: Type }>

interface Order {
  readonly command: AnyCommand
  readonly input: unknown
}

const ORDERS: { readonly [Type in CarrierNotice['type']]: (notice: Told<Type>) => Order } = {
  'call-arrived': ({ callId, carrierCallId, to, from, at }) => ({
    command: routeCall,
    input: { callId, carrierCallId, to, caller: from, occurredAt: at },
  }),
  'dial-answered': ({ callId, attempt, whisperAccepted, at }) => ({
    command: recordAnswer,
    input: { callId, attempt, whisperAccepted, occurredAt: at },
  }),
  'dial-failed': ({ callId, attempt, outcome, sipCode, retryAfterSeconds, whisperAccepted, at }) => ({
    command: recordFailure,
    input: { callId, attempt, outcome, sipCode, retryAfterSeconds, whisperAccepted, occurredAt: at },
  }),
  'call-ended': ({ callId, hungUpBy, recorded, at }) => ({
    command: endCall,
    input: { callId, hungUpBy, recorded, terminated: false, occurredAt: at },
  }),
}

/** The command that a notice of the carrier's asks for. */
export function orderFor(notice: CarrierNotice): Order {
  const order = ORDERS[notice.type] as (notice: CarrierNotice) => Order
  return order(notice)
}
