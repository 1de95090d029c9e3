import { setTimeout as pause } from 'node:timers/promises'
import type { ProcessRole } from '../../../src/main/config.ts'
import type { FaultServers } from '../servers.ts'
import type { Fleet, FleetMember, ServerName } from './fleet.ts'

/** Ends a fault. */
type End = () => void | Promise<void>

/** A fault, from its begin to its end. */
export interface Fault {
  readonly name: string
  readonly begin: () => Promise<End>
}

const SLOW_MS = 150
/**
 * For how long (ms) nothing reaches the read store before it is killed. mongo-java-server has no journal, as MongoDB has: once a
 * second it stores its collections one after the other, so that under writes a kill leaves a checkpoint without documents before it.
 */
const UNTIL_STORED_MS = 2_500

const SERVERS = { e: 'EventStoreDB', m: 'MongoDB' } as const

/** What can happen to a server, and what ends it. */
const SERVER_FAULTS = [
  ['kill', 'start'],
  ['stop', 'start'],
  ['pause', 'resume'],
] as const

const WAYS: Readonly<Record<ServerName, string>> = { eventLog: 'the event log', readStore: 'the read store' }

/** What can happen to a way to a server, and what ends it. */
const WAY_FAULTS: readonly (readonly [name: string, begin: (way: FleetMember['ways'][ServerName]) => End])[] = [
  [
    'cut off from',
    (way) => {
      way.cut()
      return way.restore
    },
  ],
  [
    'far from',
    (way) => {
      way.delay(SLOW_MS)
      return () => way.delay(0)
    },
  ],
  [
    'left waiting by',
    (way) => {
      way.stall()
      return () => {
        // What was held back is lost, as when a router forgets a connection.
        way.cut()
        way.restore()
      }
    },
  ],
]

/** All faults of a fleet and its servers: kills of each role, of each server, and of each way between them. */
export function faultTable(
  fleet: Fleet,
  servers: FaultServers,
  roles: readonly ProcessRole[],
  chance: () => number,
): readonly Fault[] {
  const someone = (members: readonly FleetMember[]) => members[Math.floor(chance() * members.length)]
  const kills = roles.map((role) => ({
    name: `a ${role} is killed`,
    async begin() {
      const victim = someone(fleet.of(role))
      await victim?.process.kill()
      return () => victim?.process.start()
    },
  }))
  const ofServers = (['e', 'm'] as const).flatMap((server) =>
    SERVER_FAULTS.map(([action, undo]) => ({
      name: `${action} ${SERVERS[server]}`,
      async begin() {
        const ways = action === 'kill' && server === 'm' ? fleet.members.map(({ ways }) => ways.readStore) : []
        for (const way of ways) way.cut()
        if (ways.length > 0) await pause(UNTIL_STORED_MS)
        await servers.control(action, server)
        return async () => {
          await servers.control(undo, server)
          for (const way of ways) way.restore()
        }
      },
    })),
  )
  const ofWays = (['eventLog', 'readStore'] as const).flatMap((server) =>
    WAY_FAULTS.map(([what, begin]) => ({
      name: `a process is ${what} ${WAYS[server]}`,
      async begin() {
        const way = someone(fleet.members)?.ways[server]
        return way ? begin(way) : () => undefined
      },
    })),
  )
  return [...kills, ...ofServers, ...ofWays]
}
