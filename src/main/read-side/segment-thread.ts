import { openLocalFiles } from '../../adapters/files/local-files.ts'
import { createSegmentBuilder } from '../../runtime/columns/build-part.ts'
import { openReadStore } from '../stores.ts'
import { joinThread } from './threads.ts'

const { start, serve } = await joinThread()
const store = await openReadStore(start.readStoreUrl, { follows: true })
const { spanBefore, build } = createSegmentBuilder(store, openLocalFiles(start.columnsDirectory))
const handlers = { spanBefore, build }

/** Handlers of a thread that builds segments. */
export type SegmentCalls = typeof handlers

serve({ ...handlers, close: () => store.close() })
