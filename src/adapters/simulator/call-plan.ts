import type { NoticeListener } from '../../ports/carrier.ts'
import type { PlacedCall } from '../../ports/simulated-carrier.ts'
import type { Agenda } from './agenda.ts'
import type { CallWriter } from './call-writer.ts'
import type { SimulatedDial } from './dial.ts'
import { dialNotice, endNotices } from './notices.ts'

interface CallPlanPorts {
  readonly placed: PlacedCall
  readonly agenda: Agenda
  readonly writer: CallWriter
  readonly listener: NoticeListener
  /** Called when the end of the call is written. */
  readonly onEnded: () => void
}

/** Plans what happens to a call, and notifies the platform when it does. */
export function createCallPlan({ placed, agenda, writer, listener, onEnded }: CallPlanPorts) {
  async function end(): Promise<void> {
    const state = writer.state()
    const { ends, ended } = state
    if (!ends || ended) return
    for (const notice of endNotices(placed, state)) await listener(notice)
    await writer.serialize(async () => {
      if (!writer.state().ended) await writer.write({ type: 'SimulatedCallEnded', data: ends })
    })
    onEnded()
  }

  /** Plans the end as it is known now. An earlier one may be planned later; the first to run ends the call. */
  function planEnd(): void {
    const { ends } = writer.state()
    if (ends) agenda.plan(ends.at, end)
  }

  async function notifyDial(dial: SimulatedDial): Promise<void> {
    if (writer.state().ended) return
    const notice = dialNotice(placed, dial)
    if (notice) await listener(notice)
    // Between the dials of an instant call no time passes: only an answer leads to its end.
    if (dial.answered || placed.mode === 'live') planEnd()
  }

  return {
    planEnd,
    /** Plans the result of a dial, unless the caller gives up first. A buyer who answers and hangs up at once has answered. */
    planDial(dial: SimulatedDial): void {
      const { givesUpAt } = placed
      if (givesUpAt !== null && givesUpAt <= dial.resultAt) planEnd()
      else agenda.plan(dial.resultAt, () => notifyDial(dial))
    },
  }
}
