import { sealHeaders } from '../../ports/sealed-headers.ts'
import type { PlacedCall } from '../../ports/simulated-carrier.ts'
import { appendToCall, NO_CALL, readCall, type StoredCall } from './call-stream.ts'
import type { PlayerPorts } from './player.ts'
import { simulatedCallEvents } from './simulated-call.ts'

/** Writes a new call, its headers sealed; one that was written before is read instead. @throws LogUnavailable */
export async function writePlacement(
  ports: PlayerPorts,
  placed: PlacedCall,
): Promise<{ readonly placed: PlacedCall; readonly stored: StoredCall }> {
  const sealed = { ...placed, sipHeaders: sealHeaders(placed.sipHeaders, placed.carrierCallId, ports.secrets) }
  const data = simulatedCallEvents.SimulatedCallPlaced.parse(sealed)
  const written = await appendToCall(ports, placed, NO_CALL, { type: 'SimulatedCallPlaced', data })
  const stored = written ?? (await readCall(ports, placed.carrierCallId))
  return { placed: stored.state.placed ?? sealed, stored }
}
