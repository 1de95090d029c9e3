import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { pino } from 'pino'
import { Pool } from 'undici'
import { openEventStoreDb } from '../../src/adapters/eventstoredb/event-store-db.ts'
import { openSqliteOperationalStore } from '../../src/adapters/sqlite/operational-store.ts'
import { isRefusal } from '../../src/kernel/refusal.ts'
import { commands } from '../../src/main/commands.ts'
import { openPeers } from '../../src/main/peers.ts'
import { systemClock as clock, systemRandom as random } from '../../src/main/system.ts'
import { enter, ownerName } from '../../src/runtime/ownership/presence.ts'
import { createStreamWriter } from '../../src/runtime/write/stream-writer.ts'
import { HOST } from './api-server.ts'

/** What a process of this bench is: a writer over an event store, or a bare forwarder to one. */
export type WriterRole =
  | { readonly kind: 'writer'; readonly eventStoreUrl: string; readonly operationalFile: string; readonly root: string }
  | { readonly kind: 'forwarder'; readonly to: string }

/** A command as the clients of this bench send it. */
export interface SentCommand {
  readonly command: string
  readonly workspaceId: string
  readonly commandId: string
  readonly input: unknown
}

const commandOf = new Map(commands.map((command) => [command.name, command]))

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** Answers requests by a function of their bodies; 500 where it fails. */
function listenerOf(answer: (body: Buffer) => Promise<string | Buffer>): RequestListener {
  return (request, response) => {
    bodyOf(request)
      .then(answer)
      .then(
        (bytes) => response.writeHead(200, { 'content-type': 'application/json' }).end(bytes),
        (error: unknown) => response.writeHead(500).end(String(error)),
      )
  }
}

/** Forwards each body as it is. */
function forwarder(to: string): RequestListener {
  const pool = new Pool(to, { connections: 64 })
  return listenerOf(async (body) => {
    const headers = { 'content-type': 'application/json' }
    const { statusCode, body: answer } = await pool.request({ path: '/', method: 'POST', headers, body })
    const bytes = Buffer.from(await answer.arrayBuffer())
    if (statusCode !== 200) throw new Error(String(bytes))
    return bytes
  })
}

/** Decides each body, a command, as a command process of the platform does. */
async function writer({ eventStoreUrl, operationalFile, root }: Extract<WriterRole, { kind: 'writer' }>) {
  const log = await openEventStoreDb(eventStoreUrl)
  const ops = await openSqliteOperationalStore(operationalFile)
  const run = random.uuid()
  const owner = ownerName(run, run)
  await enter({ ops, clock, owner, reads: {} })
  const peers = openPeers(
    { roles: new Set(['command-api']), readStoreUrl: 'sqlite:', host: HOST, peerHost: null, peerPort: 0 },
    {
      ops,
      clock,
      owner,
      root: Buffer.from(root, 'base64'),
      onAppended: () => undefined,
      metrics: {
        conflictMet: () => undefined,
        commandForwarded: () => undefined,
      },
      logger: pino({ level: 'warn' }, pino.destination(2)),
    },
  )
  const { onAppend } = peers
  const one = await peers.connect(createStreamWriter({ log, ops, clock, random, lookUp: async () => null, onAppend }))
  return listenerOf(async (body) => {
    const { command: name, workspaceId, commandId, input }: SentCommand = JSON.parse(body.toString('utf8'))
    const command = commandOf.get(name)
    if (!command) throw new TypeError(`No command is called ${name}.`)
    const actor = { type: 'system', id: null, name: 'Bench' } as const
    const source = { correlationId: commandId, causationId: null, surface: 'bench', ip: null }
    const outcome = await one.handle(command, input, { workspaceId, actor, commandId, ...source })
    if (isRefusal(outcome)) throw new Error(`${name} was refused: ${outcome.refused}`)
    return JSON.stringify({ events: outcome.events.length, position: outcome.position })
  })
}

const role: WriterRole = JSON.parse(process.argv[2] ?? '')
const server = createServer(role.kind === 'writer' ? await writer(role) : forwarder(role.to)).listen(0, HOST)
await once(server, 'listening')
const address = server.address()
process.send?.(typeof address === 'object' && address ? address.port : 0)
