import { connect } from 'node:net'

/** The answer to bytes sent on a connection of their own: its status and its body. */
export interface RawAnswer {
  readonly status: number
  readonly text: string
}

/** Sends a request as it is written, in parts, and reads until the server closes. The request must ask for that. */
export function sendRaw(baseUrl: string, parts: readonly (string | Uint8Array)[]): Promise<RawAnswer> {
  const { hostname, port } = new URL(baseUrl)
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const socket = connect(Number(port), hostname)
    const finish = () => {
      const all = Buffer.concat(chunks).toString('utf8')
      const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(all)?.[1] ?? 0)
      if (status === 0) reject(new Error(`No answer: ${all.slice(0, 100)}`))
      else resolve({ status, text: all.slice(all.indexOf('\r\n\r\n') + 4) })
    }
    socket.setTimeout(20_000, () => socket.destroy(new Error('No answer in time')))
    socket.on('data', (chunk) => chunks.push(chunk))
    // A server may answer and close before it has read everything.
    socket.on('error', () => undefined)
    socket.on('close', finish)
    for (const part of parts) socket.write(part)
  })
}
