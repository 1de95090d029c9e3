import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { ledger } from '../../src/domain/routing/ledger.ts'
import { coldWriter, firstDecision } from './cold-start.ts'
import { fillLog, headOf, type PlayedTemplates, playTemplates } from './generated-log.ts'
import { type Figure, figureOf, type Pair } from './measure.ts'
import { withDirectory } from './temp-directory.ts'
import { sharedPart } from './template.ts'

const PAIRS = 5
/** Calls arrive once a second: an older workspace has had more calls, not more at a time. */
const GAP_MS = 1_000
/** Calls since the last snapshot: the most that a killed process leaves. */
const CALLS_SINCE_SNAPSHOT = 500

/** A workspace with a history of calls. */
interface BusyWorkspace extends Pick<PlayedTemplates, 'workspaceId' | 'dialed'> {
  readonly directory: string
}

/** Creates a workspace with this many calls in its ledger, and a snapshot shortly before the newest. */
async function createBusyWorkspace(directory: string, calls: number): Promise<BusyWorkspace> {
  const played = await playTemplates(directory)
  const templates = played.templates.map((template) => sharedPart(template, ledger.name))
  const perCall = templates.reduce((sum, { events }) => sum + events.length, 0) / templates.length
  const begun = headOf(directory)
  // In the future, because a fold forgets by recorded time and the played calls come first.
  const pace = { startMs: Date.now(), gapMs: GAP_MS }
  const fill = (from: number, upTo: number) =>
    fillLog(directory, { templates }, begun + Math.round(upTo * perCall), { from, all: calls, pace })
  const { workspaceId, dialed } = played
  fill(0, calls - CALLS_SINCE_SNAPSHOT)
  const { writer, close } = await firstDecision(directory, workspaceId, dialed)
  await writer.close()
  await close()
  fill(calls - CALLS_SINCE_SNAPSHOT, calls)
  return { directory, workspaceId, dialed }
}

const cold = ({ directory, workspaceId, dialed }: BusyWorkspace) => coldWriter(directory, workspaceId, dialed)

setFlagsFromString('--expose-gc')
const collectOnce: () => void = runInNewContext('gc')

/** Collects garbage over several turns of the event loop, in which the last writer is released. */
async function collectGarbage(): Promise<void> {
  for (let n = 0; n < 3; n++) {
    await new Promise((resolve) => setImmediate(resolve))
    collectOnce()
  }
}

/** Heap (MB) of a writer after its first decision. */
async function heapGrowthOf({ directory, workspaceId, dialed }: BusyWorkspace): Promise<number> {
  await collectGarbage()
  const before = process.memoryUsage().heapUsed
  const { writer, close } = await firstDecision(directory, workspaceId, dialed)
  await collectGarbage()
  const held = process.memoryUsage().heapUsed - before
  if (!writer.cachedStateOf(ledger, workspaceId)) throw new Error('The ledger was let go of.')
  await close()
  return held / 2 ** 20
}

/**
 * Time and memory of a cold process up to its first decision, in a workspace of many past calls compared with one of
 * few.
 */
export function busyWorkspace(few: number, many: number): Promise<readonly Figure[]> {
  return withDirectory((young) =>
    withDirectory(async (old) => {
      const [one, other] = [await createBusyWorkspace(young, few), await createBusyWorkspace(old, many)]
      await cold(one)
      await cold(other)
      const times: Pair[] = []
      const sizes: Pair[] = []
      for (let n = 0; n < PAIRS; n++) {
        times.push({ ceiling: await cold(one), ours: await cold(other) })
        sizes.push({ ceiling: await heapGrowthOf(one), ours: await heapGrowthOf(other) })
      }
      const beside = `${many.toLocaleString('en-US')} past calls beside ${few.toLocaleString('en-US')}`
      return [
        figureOf(`cold writer to its first decision, ${beside}`, 's', { atMost: 1.3 }, times),
        figureOf(`memory after it, ${beside}`, 'MB', { atMost: 1.3 }, sizes),
      ]
    }),
  )
}
