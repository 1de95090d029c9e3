import { parentPort, workerData } from 'node:worker_threads'
import { openFaultProxy } from './fault-proxy.ts'

/** A proxy to the server in `workerData`, cut and restored by messages. In its own thread it can cut at any moment. */
const proxy = await openFaultProxy(workerData)
parentPort?.postMessage(proxy.url)
parentPort?.on('message', (act: 'cut' | 'restore') => {
  proxy[act]()
  parentPort?.postMessage(act)
})
