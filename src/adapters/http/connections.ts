import type { IncomingMessage, Server } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { sleep } from '../../kernel/async/sleep.ts'
import type { Timer } from '../../kernel/async/timer.ts'

/** The connections of a server that is to stop. */
export interface Connections {
  /**
   * Takes no new connection, and keeps the open ones for `drainMs`, or until the last has ended: a request that arrives on one is
   * answered with `connection: close`. Node would close them at once, and lose what a client sends at that moment.
   */
  readonly drain: (drainMs: number) => Promise<void>
  /** Closes connections that have had no request. Browsers open such connections in advance, and Node does not count them as idle. */
  readonly closeSilent: () => void
}

/** Tracks the connections of a server. */
export function trackConnections(server: Server, timer: Timer): Connections {
  const silent = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    silent.add(socket)
    socket.once('close', () => silent.delete(socket))
  })
  server.on('request', ({ socket }: IncomingMessage) => silent.delete(socket))
  return {
    async drain(drainMs) {
      const ended = new AbortController()
      server.once('close', () => ended.abort())
      NetServer.prototype.close.call(server)
      await sleep(timer, drainMs, ended.signal)
      // A busy process has requests that arrived while it was busy: they are read in the next turns.
      for (let n = 0; n < 2; n += 1) await turn()
    },
    closeSilent() {
      for (const socket of silent) socket.destroy()
    },
  }
}
