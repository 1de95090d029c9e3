import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { StreamWriter } from '../../src/runtime/write/stream-writer.ts'
import { type Json, statusAndCode } from '../support/e2e/api-client.ts'
import { createPublisherClient } from '../support/e2e/publisher-client.ts'
import { openPublisherLane, type PublisherLane } from '../support/e2e/publisher-lane.ts'
import { storeSetups, waitUntil } from '../support/e2e/server.ts'
import { createTenantWorkspace, createWorldIn } from '../support/e2e/world.ts'
import { createFaultEnvironment } from '../support/faults/environment.ts'
import { createPlatformProcess, freePort, type PlatformProcess, READY_MS } from '../support/faults/platform-process.ts'

/** Each process leaves a role to the other: a process of every role over embedded stores counts rates for itself. */
const ROLES = ['command-api,projector,worker,auction-api', 'query-api,worker,auction-api']
const LANES = 8
const POSTS = 6
/** Caps that have one place. */
const CAPS = [
  ['concurrency', { concurrencyCap: 1 }],
  ['the day', { dailyCap: 1, capCountsOn: 'claimed' }],
] as const

async function buildWorld(writer: StreamWriter) {
  const tenant = await createTenantWorkspace(writer, { name: 'Races' })
  const buyer = await tenant.buyer({ name: 'Acme' })
  const cappedLane = async (name: string, caps: Json): Promise<PublisherLane> => {
    const plan = [await tenant.target(buyer, { name, ...caps })]
    return openPublisherLane(tenant, name, { plan })
  }
  const lanesOf = async (name: string, caps: Json) => {
    const lanes: PublisherLane[] = []
    for (let n = 0; n < LANES; n += 1) lanes.push(await cappedLane(`${name} ${n}`, caps))
    return lanes
  }
  const lanes = [await lanesOf(CAPS[0][0], CAPS[0][1]), await lanesOf(CAPS[1][0], CAPS[1][1])]
  const open = await tenant.target(buyer, { name: 'Open' })
  const lane = (name: string) => openPublisherLane(tenant, name, { plan: [open] })
  const firsts = [await cappedLane('First 0', CAPS[0][1]), await cappedLane('First 1', CAPS[0][1])] as const
  return { tenant, lanes, firsts, open: await lane('Open'), repeats: await lane('Repeats') }
}

describe.each(storeSetups)('two processes that take posts over $name', (setup) => {
  const running: PlatformProcess[] = []
  let world: Awaited<ReturnType<typeof buildWorld>>
  let removed = () => {}

  beforeAll(async () => {
    const { env, remove } = await createFaultEnvironment(setup)
    removed = remove
    world = await createWorldIn(env, buildWorld)
    for (const roles of ROLES) {
      const one = createPlatformProcess({ ...env, PORT: await freePort(), ROLES: roles })
      running.push(one)
      one.start()
      await one.waitUntilAnswering()
    }
    for (const one of running) await waitUntil('It is ready', () => one.answers('/readyz'), READY_MS)
  })
  afterAll(async () => {
    await Promise.all(running.map((one) => one.stop()))
    removed()
  })

  /** The client of a lane at a process. */
  const at = (process: number, { routingKey }: PublisherLane) =>
    createPublisherClient({ baseUrl: running[process % 2]?.baseUrl ?? '' }, () => routingKey)

  test.each(CAPS.map(([name], place) => ({ name, place })))(
    'accept one of posts that race for the last call of $name',
    async ({ place }) => {
      for (const [n, lane] of (world.lanes[place] ?? []).entries()) {
        // Either process is the first to be asked in turn.
        const asked = Array.from({ length: POSTS }, (_, k) => ({ process: k + n, caller: `+1310555${place}${n}0${k}` }))
        const pings = await Promise.all(
          asked.map(({ process, caller }) => at(process, lane).won({ callerNumber: caller })),
        )
        const posts = await Promise.all(
          asked.map(({ process, caller }, k) => at(process, lane).post(pings[k].auctionId, caller)),
        )
        const outcomes = posts.map(({ body, text }) => body?.outcome ?? text)
        expect(outcomes.toSorted(), `lane ${n}`).toEqual(['accepted', ...Array(POSTS - 1).fill('no_bid')])
      }
    },
  )

  test.each([0, 1] as const)(
    'accept the first of two posts for the last call when process %i receives it',
    async (process) => {
      const lane = world.firsts[process]
      const callers = [`+1310555020${process}`, `+1310555021${process}`]
      const pings = await Promise.all(callers.map((callerNumber, k) => at(process + k, lane).won({ callerNumber })))
      const outcomes = []
      for (const [k, caller] of callers.entries()) {
        const { body } = await at(process + k, lane).post(pings[k]?.auctionId, caller)
        outcomes.push(body.outcome)
      }
      expect(outcomes).toEqual(['accepted', 'no_bid'])
    },
  )

  test('answer the same post at either, and refuse another caller at the other', async () => {
    const { open } = world
    const caller = '+13105550190'
    const { auctionId } = await at(0, open).won({ callerNumber: caller })
    const posts = await Promise.all([0, 1, 0, 1].map((process) => at(process, open).post(auctionId, caller)))
    expect(new Set(posts.map(({ text }) => text)).size).toBe(1)
    expect(posts[0]?.body).toMatchObject({ outcome: 'accepted' })
    const hidden = await at(0, open).won({})
    const both = await Promise.all(
      ['+13105550191', '+13105550192'].map((one, process) => at(process, open).post(hidden.auctionId, one)),
    )
    expect(both.map(statusAndCode).toSorted()).toEqual([
      [200, null],
      [409, 'conflict'],
    ])
  })

  test('repeat an offer of the other, share the rate of a key, and give each auction its own number', async () => {
    const { repeats } = world
    const caller = { callerNumber: '+13105550195' }
    const first = await at(0, repeats).won(caller)
    expect(await at(1, repeats).won(caller)).toMatchObject({ cached: true, expiresAt: first.expiresAt })
    const many = await Promise.all(Array.from({ length: 130 }, (_, n) => at(n, repeats).ping(caller)))
    const answered = many.filter(({ status }) => status === 200)
    expect(answered).toHaveLength(118)
    expect(new Set(answered.map(({ body }) => body.ref)).size).toBe(answered.length)
  })
})
