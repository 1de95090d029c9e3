import { parentPort, workerData } from 'node:worker_threads'
import { openFaultProxy } from './fault-proxy.ts'

/** A way to the server of `workerData`, cut and mended by messages: from another thread its end meets a client in any turn. */
const proxy = await openFaultProxy(workerData)
parentPort?.postMessage(proxy.url)
parentPort?.on('message', (act: 'cut' | 'mend') => {
  proxy[act]()
  parentPort?.postMessage(act)
})
