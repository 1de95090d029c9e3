import { availableParallelism } from 'node:os'
import type { Timer } from '../../kernel/async/timer.ts'
import { StoreUnavailable } from '../../ports/read-store.ts'
import type { SegmentBuilder } from '../../runtime/columns/build-part.ts'
import type { SegmentCalls } from './segment-thread.ts'
import { loadThread, startThread, type Thread, type ThreadStart } from './threads.ts'

const MOST_THREADS = 2
/** How long an idle thread is kept (ms): a query of many workspaces builds one after the other. */
const IDLE_MS = 5_000

/** Builds segments in threads of their own: all are started when the first segment is wanted, and ended when none is for a while. */
export interface SegmentThreads extends SegmentBuilder {
  readonly close: () => Promise<void>
}

/** A place for a thread. */
interface Slot {
  thread: Promise<Thread<SegmentCalls>> | null
  calls: number
}

/** Creates the threads that build segments. A thread that dies fails its calls with StoreUnavailable; the next call starts another. */
export function createSegmentThreads(start: Omit<ThreadStart, 'back' | 'root'>, clock: Timer): SegmentThreads {
  const width = Math.min(MOST_THREADS, availableParallelism())
  const slots = Array.from({ length: width }, (): Slot => ({ thread: null, calls: 0 }))
  let cancelEnd = () => {}

  function threadOf(slot: Slot): Promise<Thread<SegmentCalls>> {
    if (slot.thread) return slot.thread
    const module = new URL('./segment-thread.ts', import.meta.url)
    const started = startThread<SegmentCalls>(loadThread(module), start, {}, () => forget()).catch((error) => {
      throw new StoreUnavailable(`No segments can be built: ${error instanceof Error ? error.message : String(error)}`)
    })
    const forget = () => {
      if (slot.thread === started) slot.thread = null
    }
    started.catch(forget)
    slot.thread = started
    return started
  }

  async function end(): Promise<void> {
    cancelEnd()
    const ending = slots.map(({ thread }) => thread)
    for (const slot of slots) slot.thread = null
    await Promise.all(ending.map(async (thread) => (await thread?.catch(() => null))?.close()))
  }

  /** Runs a call in the thread with the fewest. */
  async function run<Result>(call: (thread: Thread<SegmentCalls>['calls']) => Promise<Result>): Promise<Result> {
    cancelEnd()
    const slot = slots.reduce((least, one) => (one.calls < least.calls ? one : least))
    slot.calls += 1
    for (const one of slots) void threadOf(one)
    try {
      return await call((await threadOf(slot)).calls)
    } finally {
      slot.calls -= 1
      if (slots.every(({ calls }) => calls === 0)) cancelEnd = clock.schedule(clock.now() + IDLE_MS, () => void end())
    }
  }

  return {
    width,
    spanBefore: (span) => run((thread) => thread.spanBefore(span)),
    build: (part) => run((thread) => thread.build(part)),
    close: end,
  }
}
