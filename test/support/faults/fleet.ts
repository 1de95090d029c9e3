import type { ProcessRole } from '../../../src/main/config.ts'
import type { FaultEnvironment } from './environment.ts'
import { type FaultProxy, openFaultProxy } from './fault-proxy.ts'
import { createPlatformProcess, freePort, type PlatformProcess } from './platform-process.ts'

/** The servers that a process reaches through a way of its own. */
export type ServerName = 'eventLog' | 'readStore'

/** A process with one role, and its ways to the servers. */
export interface FleetMember {
  readonly name: string
  readonly role: ProcessRole
  readonly process: PlatformProcess
  readonly ways: Readonly<Record<ServerName, FaultProxy>>
}

/** Several processes of each role over the same servers. */
export interface Fleet {
  readonly members: readonly FleetMember[]
  readonly of: (role: ProcessRole) => readonly FleetMember[]
  /** Ends all processes gracefully; returns those that did not end with 0, a sentence each. */
  readonly stop: () => Promise<readonly string[]>
  readonly close: () => Promise<void>
}

/** Creates the processes of a fleet, `count` of each role, without starting them. */
export async function createFleet(
  { env, eventLogUrl, readStoreUrl }: FaultEnvironment,
  roles: readonly ProcessRole[],
  count: number,
): Promise<Fleet> {
  const create = async (role: ProcessRole, number: number): Promise<FleetMember> => {
    const ways = { eventLog: await openFaultProxy(eventLogUrl), readStore: await openFaultProxy(readStoreUrl) }
    const process = createPlatformProcess({
      ...env,
      EVENT_LOG_URL: ways.eventLog.url,
      READ_STORE_URL: ways.readStore.url,
      ROLES: role,
      PORT: await freePort(),
    })
    return { name: `${role} ${number}`, role, process, ways }
  }
  const members = await Promise.all(
    roles.flatMap((role) => Array.from({ length: count }, (_, index) => create(role, index + 1))),
  )
  return {
    members,
    of: (role) => members.filter((member) => member.role === role),
    async stop() {
      const ends = members.map(async ({ name, process }) => ({ name, code: await process.stop() }))
      return (await Promise.all(ends)).flatMap(({ name, code }) => (code === 0 ? [] : [`${name} ended with ${code}`]))
    },
    async close() {
      await Promise.all(members.map(({ process }) => process.kill()))
      await Promise.all(members.flatMap(({ ways }) => Object.values(ways).map((way) => way.close())))
    },
  }
}
