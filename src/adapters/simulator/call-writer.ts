import { createMutex } from '../../kernel/async/mutex.ts'
import type { EventOf } from '../../kernel/event.ts'
import { StoreUnavailable } from '../../ports/read-store.ts'
import type { PlacedCall } from '../../ports/simulated-carrier.ts'
import { appendToCall, type CallStreamPorts, type StoredCall } from './call-stream.ts'
import type { SimulatedCallState, simulatedCallEvents } from './simulated-call.ts'

/** Writes one call, for as long as no other process does. */
export interface CallWriter {
  readonly state: () => SimulatedCallState
  /** @throws StoreUnavailable when another process plays the call: it continues from the log */
  readonly write: (event: EventOf<typeof simulatedCallEvents>) => Promise<void>
  /** Runs a task after those before it. */
  readonly serialize: (task: () => Promise<void>) => Promise<void>
  /** Refuses all further writes. */
  readonly close: () => void
}

/** Creates the writer of a call. `onLost` is called when another process turns out to play the call. */
export function createCallWriter(
  ports: CallStreamPorts,
  placed: PlacedCall,
  start: StoredCall,
  onLost: () => void,
): CallWriter {
  let stored = start
  let closed = false
  return {
    state: () => stored.state,
    serialize: createMutex(),
    async write(event) {
      const next = closed ? null : await appendToCall(ports, placed, stored, event)
      if (next) {
        stored = next
        return
      }
      onLost()
      throw new StoreUnavailable(`This process does not play the simulated call ${placed.carrierCallId} any more.`)
    },
    close() {
      closed = true
    },
  }
}
