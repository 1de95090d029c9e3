import { ledger } from '../../src/domain/ledger.ts'
import { partsOfStream } from '../../src/kernel/entity.ts'
import { type Retaken, retake, type Told, toldByLedger } from '../../src/main/retaking.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import { createFoldReader, type Decided, decisionsOf } from '../../src/runtime/replaying.ts'
import type { createMemoryLog } from './memory-event-log.ts'

/** A decision of a ledger on a call, what led to it, and how it came out the second time. */
export interface Ruling {
  readonly decided: Decided
  readonly told: Told
  readonly retaken: Retaken
}

/** Every decision on calls that a log holds, taken again. */
export async function retakeAll(log: EventLog & Pick<ReturnType<typeof createMemoryLog>, 'events'>): Promise<Ruling[]> {
  const workspaceIds = new Set(
    log.events
      .map(({ stream }) => partsOfStream(stream))
      .flatMap(({ category, id }) => (category === ledger.name ? [id] : [])),
  )
  const readFold = createFoldReader(log)
  const rulings: Ruling[] = []
  for (const workspaceId of workspaceIds) {
    for await (const decided of decisionsOf(log, ledger, workspaceId)) {
      const told = decided.events.map(toldByLedger).find((one) => one !== null)
      if (told) rulings.push({ decided, told, retaken: await retake(readFold, decided, told) })
    }
  }
  return rulings
}

/** What would not be taken as it was, in words; empty when all would. */
export function otherwise(rulings: readonly Ruling[]): readonly string[] {
  return rulings.flatMap(({ retaken: { command, position, differences, problem } }) => {
    const fields = differences.map(({ field, recorded, decided }) => `${field}: ${JSON.stringify([recorded, decided])}`)
    return [...(problem === null ? [] : [problem]), ...fields].map((one) => `${command} at ${position}: ${one}`)
  })
}
