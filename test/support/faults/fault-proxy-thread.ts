import { parentPort, workerData } from 'node:worker_threads'
import { severable } from './fault-proxy.ts'

/** A way to the server of `workerData`, cut and mended by messages: from another thread its end meets a client in any turn. */
const way = await severable(workerData)
parentPort?.postMessage(way.url)
parentPort?.on('message', (act: 'cut' | 'mend') => {
  way[act]()
  parentPort?.postMessage(act)
})
