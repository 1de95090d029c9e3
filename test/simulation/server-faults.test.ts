import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { openEventStoreDb } from '../../src/adapters/eventstoredb/event-store-db.ts'
import { faultsOf } from '../support/faults/judge.ts'
import {
  appendAndFollow,
  DEADLINE_MS,
  expectFollowed,
  expectNothingLost,
  retryUntilAnswered,
} from '../support/faults/log-load.ts'
import { type FaultServers, faultServers } from '../support/servers.ts'
import { runFaultRounds } from './fault-rounds.ts'
import { testReplicas } from './replicas-behind-proxy.ts'

/** `ROUNDS=200` runs longer; `SERVERS_DISK=1 with-servers npx node test/simulation/fault-rounds.ts 200` also prints its progress. */
const ROUNDS = Number(process.env.ROUNDS ?? 5)
const SETTLE_MS = 120_000

const given = faultServers()

describe.runIf(given)('servers that are killed, paused and restarted', () => {
  const servers = given as FaultServers

  test('appends to EventStoreDB end in time, lose nothing and are followed', async () => {
    const url = servers.eventStoreUrl
    const patient = await openEventStoreDb(url)
    const log = await retryUntilAnswered(() => openEventStoreDb(url, DEADLINE_MS))
    const faults = async () => {
      for (const [fault, end] of [
        ['kill', 'start'],
        ['pause', 'resume'],
        ['stop', 'start'],
        ['pause', 'resume'],
        ['kill', 'start'],
      ] as const) {
        await wait(500)
        await servers.control(fault, 'e')
        await wait(DEADLINE_MS * 3)
        await servers.control(end, 'e')
        await retryUntilAnswered(() => log.head())
      }
      await wait(500)
    }
    const { seen, outcome } = await appendAndFollow(log, faults)
    expectFollowed(seen, outcome)
    await expectNothingLost(patient, outcome)
    await Promise.all([log.close(), patient.close()])
  })

  test('two processes of each role lose nothing that they acknowledged, and do nothing twice', {
    timeout: 240_000 + ROUNDS * 60_000,
  }, async () => {
    const report = await runFaultRounds({
      servers,
      rounds: ROUNDS,
      settleMs: SETTLE_MS,
      untilCharged: false,
      seed: 20_261_123,
    })
    expect([...faultsOf(report), ...report.ended]).toEqual([])
    expect(report.rounds).toHaveLength(ROUNDS)
    expect(report.acknowledged).toBeGreaterThan(ROUNDS)
    expect(report.written).toBeGreaterThan(ROUNDS)
  })

  // Here, since nothing else may use these servers meanwhile. It takes minutes: REPLICAS=1 runs it.
  if (process.env.REPLICAS) testReplicas(servers)
})
