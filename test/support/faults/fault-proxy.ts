import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { Transform } from 'node:stream'

/** A TCP proxy that can be cut, so that a test can take a server away from one client. */
export interface FaultProxy {
  /** The server's URL with the address of the proxy. */
  readonly url: string
  /** Breaks all connections, and new ones until `restore`. */
  readonly cut: () => void
  readonly restore: () => void
  /** Delays all data by so much (ms) from now on; 0 for not at all. */
  readonly delay: (ms: number) => void
  /** Holds back all data, as a server does that hangs. */
  readonly stall: () => void
  readonly close: () => Promise<void>
}

/** Passes data on, in its order, after a delay. */
function createDelay(delayMs: () => number): Transform {
  return new Transform({
    transform(chunk, _encoding, done) {
      const ms = delayMs()
      if (ms === 0) done(null, chunk)
      else setTimeout(() => done(null, chunk), ms)
    },
  })
}

/** Opens a proxy to the first host and port in a URL. */
export async function openFaultProxy(url: string): Promise<FaultProxy> {
  const [, before = '', host = '', port = '', after = ''] =
    /^(.*?\/\/(?:[^@/]*@)?)([^:/?,]+):(\d+)(.*)$/.exec(url) ?? []
  const open = new Set<Socket>()
  let whole = true
  let delayMs = 0
  const server = createServer((client) => {
    if (!whole) return void client.destroy()
    const upstream = connect(Number(port), host)
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(one)
      one.pipe(createDelay(() => delayMs)).pipe(other)
      one.on('error', () => {})
      one.on('close', () => {
        open.delete(one)
        other.destroy()
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const local = address !== null && typeof address === 'object' ? address.port : 0
  const sever = () => {
    for (const socket of open) socket.destroy()
  }
  return {
    url: `${before}127.0.0.1:${local}${after}`,
    cut: () => {
      whole = false
      sever()
    },
    restore: () => {
      whole = true
    },
    delay: (ms) => {
      delayMs = ms
    },
    stall: () => {
      for (const socket of open) socket.unpipe().pause()
    },
    close: async () => {
      server.close()
      sever()
      await once(server, 'close')
    },
  }
}
