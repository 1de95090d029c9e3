import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { routeCall } from '../../commands/routing/route-call.ts'
import { openMongoOperationalStore } from '../../src/adapters/mongodb/operational-store.ts'
import { openSqliteEventLog } from '../../src/adapters/sqlite/event-log.ts'
import { openSqliteOperationalStore } from '../../src/adapters/sqlite/operational-store.ts'
import { isRefusal } from '../../src/kernel/refusal.ts'
import { systemClock as clock, systemRandom as random } from '../../src/main/system.ts'
import { createStreamWriter } from '../../src/runtime/write/stream-writer.ts'
import { secondsOf } from './measure.ts'

/** Opens a writer with empty caches over the stores in a directory, or over a MongoDB's operational store. */
async function openWriter(directory: string, store: string) {
  const log = await openSqliteEventLog(join(directory, 'events.db'))
  const ops =
    store === 'sqlite'
      ? await openSqliteOperationalStore(join(directory, 'views.ops.db'))
      : await openMongoOperationalStore(store)
  const writer = createStreamWriter({ log, ops, clock, random, lookUp: async () => null })
  return {
    writer,
    async close(): Promise<void> {
      await Promise.all([log.close(), ops.close()])
    },
  }
}

/** Decides on a call to a number as a dry run; appends nothing. */
export async function firstDecision(directory: string, workspaceId: string, to: string, store = 'sqlite') {
  const { writer, close } = await openWriter(directory, store)
  const callId = random.uuid()
  const occurredAt = new Date(clock.now()).toISOString()
  const input = { callId, carrierCallId: callId, to, caller: null, occurredAt }
  const caller = {
    workspaceId,
    actor: { type: 'system', id: null, name: 'Bench' },
    commandId: callId,
    correlationId: callId,
    causationId: null,
    surface: 'bench',
    ip: null,
  } as const
  const outcome = await writer.dryRun((events) => (events.length === 0 ? { command: routeCall, input } : null), caller)
  if (isRefusal(outcome)) throw new Error(`The call was refused: ${outcome.refused}.`)
  return { writer, close }
}

/** Seconds from opening the stores to the first decision. */
export function coldWriter(directory: string, workspaceId: string, to: string): Promise<number> {
  return secondsOf(async () => (await firstDecision(directory, workspaceId, to)).close())
}

/** Seconds of a whole process: start, first decision, end. */
export function coldProcess(directory: string, workspaceId: string, to: string): Promise<number> {
  return secondsOf(async () => {
    const process = fork(join(import.meta.dirname, 'cold-process.ts'), [directory, workspaceId, to])
    const [code] = await once(process, 'exit')
    if (code !== 0) throw new Error(`The cold process ended with ${code}.`)
  })
}
