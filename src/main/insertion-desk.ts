import { readFileSync } from 'node:fs'
import type { InsertionPorts } from '../api/insertion/insertion-routes.ts'
import { createPoolPlaces } from '../api/insertion/pool-places.ts'
import { workspace } from '../domain/configuration/workspace.ts'
import { LEASE } from '../domain/shared/limits.ts'
import type { Entries } from '../ports/operational-store.ts'
import { createLeaseOfCall } from '../reactions/call-leases.ts'
import { createLeaseEnds } from '../reactions/lease-ends.ts'
import { leaseEntriesOf } from '../reactions/lease-entries.ts'
import { createLeaseQueues } from '../reactions/lease-queues.ts'
import { createLeases } from '../reactions/leases.ts'
import { createSessionIds } from '../reactions/session-ids.ts'
import { createRatesLimiter, createSharedRatesLimiter } from '../runtime/rates/rates-limiter.ts'
import { type Config, isSingleProcess } from './config.ts'
import type { Core } from './core.ts'
import type { LeaseTools } from './platform-effects.ts'

/** The page snippet, as its build made it. */
const SNIPPET = new URL('../adapters/http/pages/svcdni.js', import.meta.url)

/** Visitors' leases as a process sees them: what calls and reactions know of them, and what the public routes are built over. */
export interface InsertionDesk extends InsertionPorts {
  readonly tools: LeaseTools
}

/** Opens the leases of a process over its entries. */
export function openInsertionDesk(
  config: Config,
  { writer, ops, readSide, clock, random }: Pick<Core, 'writer' | 'ops' | 'readSide' | 'clock' | 'random'>,
  allEntries: Entries,
): InsertionDesk {
  const isAlone = isSingleProcess(config)
  const entries = leaseEntriesOf(allEntries)
  const queues = createLeaseQueues(entries, clock, { isAlone })
  const configuration = (workspaceId: string) => writer.recentStateOf(workspace, workspaceId, LEASE.foldAgeMs)
  return {
    tools: {
      leaseOf: createLeaseOfCall({ entries, configuration, clock }),
      ends: createLeaseEnds({ entries, queues, writer, clock }),
    },
    places: createPoolPlaces({ find: readSide.poolKey, writer }),
    leases: createLeases({
      entries,
      queues,
      writer,
      newSessionId: createSessionIds({ ops, clock, random }),
      clock,
      random,
    }),
    rates: isAlone ? createRatesLimiter(clock) : createSharedRatesLimiter(ops, clock),
    snippet: () => readFileSync(SNIPPET, 'utf8'),
    clock,
  }
}
