import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** A way to a server that can be cut, so that a test may take the server away from one client alone. */
export interface FaultProxy {
  /** The URL with this way's address in place of the server's. */
  readonly url: string
  /** Breaks every connection, and those to come until `mend`. */
  readonly cut: () => void
  readonly mend: () => void
  /** Holds back whatever is under way, as a server does that hangs. */
  readonly stall: () => void
  readonly close: () => Promise<void>
}

/** Opens a way to the server that a URL names by its first host and port. */
export async function openFaultProxy(url: string): Promise<FaultProxy> {
  const [, before = '', host = '', port = '', after = ''] =
    /^(.*?\/\/(?:[^@/]*@)?)([^:/?,]+):(\d+)(.*)$/.exec(url) ?? []
  const open = new Set<Socket>()
  let whole = true
  const server = createServer((client) => {
    if (!whole) return void client.destroy()
    const upstream = connect(Number(port), host)
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(one)
      one.pipe(other)
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
    mend: () => {
      whole = true
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
