import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { ledger } from '../../src/domain/routing/ledger.ts'
import { coldWriter, firstDecision } from './cold-start.ts'
import { fillLog, headOf, type PlayedTemplates, playTemplates } from './generated-log.ts'
import { type Figure, figureOf, type Pair } from './measure.ts'
import { withDirectory } from './temp-directory.ts'
import { sharedPart } from './template.ts'

const PAIRS = 5
/** Calls come once a second: a workspace that is older has had more of them, not more at a time. */
const GAP_MS = 1_000
/** Calls that came since the fold was cached: a process that was killed leaves as many at the most. */
const CALLS_SINCE_SNAPSHOT = 500

/** A workspace of an age. */
interface BusyWorkspace extends Pick<PlayedTemplates, 'workspaceId' | 'dialed'> {
  readonly directory: string
}

/** So many calls in the ledger of a workspace, its fold cached a little before the newest. */
async function createBusyWorkspace(directory: string, calls: number): Promise<BusyWorkspace> {
  const played = await playTemplates(directory)
  const templates = played.templates.map((template) => sharedPart(template, ledger.name))
  const perCall = templates.reduce((sum, { events }) => sum + events.length, 0) / templates.length
  const begun = headOf(directory)
  // From now on, for a fold forgets by the times at which events were recorded, and those of the played calls come first.
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

/** What the last writer held is let go of in later turns of the event loop. */
async function collectGarbage(): Promise<void> {
  for (let n = 0; n < 3; n++) {
    await new Promise((resolve) => setImmediate(resolve))
    collectOnce()
  }
}

/** Megabytes that a writer holds after its first decision. */
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

/** A cold process to its first decision in a workspace of many past calls, beside one of few: time, and memory held. */
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
