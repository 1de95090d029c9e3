import { describe, expect, it } from 'vitest'
import { createCampaign } from '../../../commands/campaigns/create-campaign.ts'
import { assignNumber } from '../../../commands/supply/assign-number.ts'
import { changePool } from '../../../commands/supply/change-pool.ts'
import { createPool } from '../../../commands/supply/create-pool.ts'
import { createPublisher } from '../../../commands/supply/create-publisher.ts'
import { deletePool } from '../../../commands/supply/delete-pool.ts'
import { provisionNumber } from '../../../commands/supply/provision-number.ts'
import { rotatePoolKey } from '../../../commands/supply/rotate-pool-key.ts'
import { setLane } from '../../../commands/supply/set-lane.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { newPool } from '../../../src/domain/supply/pool.ts'
import type { NewEvent } from '../../../src/kernel/event.ts'
import { given, idOf } from '../../support/fixtures/spec.ts'
import {
  campaignIn,
  hashOf,
  idIn,
  numberIn,
  publisherIn,
  workspaceFixture,
} from '../../support/fixtures/workspace-fixture.ts'

const KEY = `pk_${'0a'.repeat(12)}`
const OTHER_KEY = `pk_${'0b'.repeat(12)}`
const key = { prefix: 'rk_', hash: hashOf('another') }

// A second campaign, a second publisher with a lane on the first, a third without, and a number in no pool.
const events = workspaceFixture(
  [createPublisher, () => ({ name: 'Red Leads' })],
  [setLane, (so) => ({ campaignId: campaignIn(so), publisherId: publisherIn(so, 1), terms: {}, key })],
  [createPublisher, () => ({ name: 'Green Leads' })],
  [createCampaign, () => ({ name: 'Solar East', verticalId: 'solar' })],
  [provisionNumber, () => ({ e164: '+14155550124', type: 'local' })],
  [assignNumber, (so) => ({ numberId: numberIn(so, 1), campaignId: campaignIn(so), publisherId: publisherIn(so) })],
)
const [campaignId, elsewhere] = [campaignIn(events), campaignIn(events, 1)]
const [blue, red, green] = [publisherIn(events), publisherIn(events, 1), publisherIn(events, 2)]
const [first, second] = [numberIn(events), numberIn(events, 1)]
const create = (settings: object, more: object = {}, from: readonly NewEvent[] = events) =>
  given(workspace, from).when(
    createPool,
    { campaignId, publicKey: KEY, settings: { name: 'Site', ...settings }, ...more },
    { firstId: 500 },
  )
const pooled = create({ publisherId: blue, fallbackNumberId: second })
const poolId = idIn(pooled.events, 'PoolCreated', 'pool')
// The first number is in its rotation.
const filled = given(workspace, pooled.events).when(assignNumber, { numberId: first, poolId })
const change = (changes: object, from = filled.events) => given(workspace, from).when(changePool, { poolId, changes })

describe('create-pool', () => {
  it('is active with defaults, for pages of any host', () => {
    create({}).gives([
      {
        type: 'PoolCreated',
        data: {
          pool: {
            name: 'Site',
            campaignId,
            publisherId: null,
            publicKey: KEY,
            status: 'active',
            ttlSeconds: 1_800,
            params: [],
            domains: [],
            fallbackNumberId: null,
            display: 'formatted',
          },
          campaignName: 'Solar West',
          publisherName: null,
        },
      },
    ])
  })

  it('stores each domain once, in lower case', () => {
    create({ domains: ['Example.com', '*.example.com', 'example.com'] }).gives([
      { type: 'PoolCreated', data: { pool: { domains: ['example.com', '*.example.com'] } } },
    ])
  })

  it.each([
    ['a campaign', {}, { campaignId: idOf(9) }, 'campaign-not-found'],
    ['a publisher', { publisherId: idOf(9) }, {}, 'publisher-not-found'],
    ['a fallback number', { fallbackNumberId: idOf(9) }, {}, 'number-not-found'],
    ['a publisher without a lane', { publisherId: green }, {}, 'publisher-not-on-campaign'],
    ['a fallback of another campaign', { fallbackNumberId: first }, { campaignId: elsewhere }, 'conflict'],
  ])('refuses %s that is not there', (_what, settings, more, refused) => {
    create(settings, more).gives({ refused })
  })

  it('refuses a fallback that is in rotation', () => {
    create({ fallbackNumberId: first }, { publicKey: OTHER_KEY }, filled.events).gives({
      refused: 'conflict',
      details: { fallbackNumberId: expect.any(String), poolId },
    })
  })
})

describe('the settings of a pool', () => {
  const keys = (count: number) => Array.from({ length: count }, (_, n) => ({ key: `k${n}` }))
  it.each([
    ['59 seconds', { ttlSeconds: 59 }],
    ['86,401 seconds', { ttlSeconds: 86_401 }],
    ['21 parameters', { params: keys(21) }],
    ['a parameter twice', { params: [{ key: 'gclid' }, { key: 'GCLID' }] }],
    ['a parameter with a blank', { params: [{ key: 'a b' }] }],
    ['a URL for a domain', { domains: ['https://example.com'] }],
    ['a port', { domains: ['example.com:80'] }],
    ['a star alone', { domains: ['*'] }],
    ['a star inside', { domains: ['a.*.com'] }],
    ['51 domains', { domains: Array.from({ length: 51 }, (_, n) => `d${n}.com`) }],
  ])('are not %s', (_what, settings) => {
    expect(newPool.safeParse({ name: 'Site', ...settings }).success).toBe(false)
  })

  it('are accepted up to their limits', () => {
    const settings = { name: 'Site', ttlSeconds: 86_400, params: keys(20), domains: ['localhost', '*.a-b.example.com'] }
    expect(newPool.parse(settings).params).toHaveLength(20)
    expect(newPool.parse({ ...settings, ttlSeconds: 60 }).ttlSeconds).toBe(60)
    expect(newPool.parse({ name: 'x', params: [{ key: 'UTM_', prefix: true }] }).params).toEqual([
      { key: 'utm_', prefix: true },
    ])
  })
})

describe('change-pool', () => {
  it('changes the requested fields', () => {
    change({ status: 'paused', ttlSeconds: 60 }).gives([
      {
        type: 'PoolChanged',
        data: { poolId, name: 'Site', before: { status: 'active', ttlSeconds: 1_800 }, after: { status: 'paused' } },
      },
    ])
    change({ name: 'Site' }).gives([])
  })

  it('assigns its numbers to its publisher, and to none', () => {
    const moved = change({ publisherId: red })
    moved.gives([
      { type: 'PoolChanged' },
      { type: 'NumberAssigned', data: { numberId: first, after: { campaignId, publisherId: red, poolId } } },
    ])
    expect(moved.state.numbers.get(second)?.publisherId).toBe(blue)
    expect(change({ publisherId: null }).state.numbers.get(first)).toMatchObject({ publisherId: null, poolId })
  })

  it('refuses unknown records and those of another campaign', () => {
    change({}).gives({ refused: 'bad-request' })
    change({ publisherId: idOf(9) }).gives({ refused: 'publisher-not-found' })
    change({ publisherId: green }).gives({ refused: 'publisher-not-on-campaign', details: { publisherId: green } })
    change({ fallbackNumberId: idOf(9) }).gives({ refused: 'number-not-found' })
    change({ fallbackNumberId: first }).gives({ refused: 'conflict', details: { poolId } })
    given(workspace, events)
      .when(changePool, { poolId, changes: { name: 'x' } })
      .gives({ refused: 'pool-not-found' })
  })
})

describe('rotate-pool-key', () => {
  it('replaces the key', () => {
    const rotated = given(workspace, filled.events).when(rotatePoolKey, { poolId, publicKey: OTHER_KEY })
    rotated.gives([{ type: 'PoolKeyRotated', data: { before: KEY, after: OTHER_KEY } }])
    expect(rotated.state.pools.get(poolId)?.publicKey).toBe(OTHER_KEY)
  })

  it('refuses an unknown pool', () => {
    given(workspace, events).when(rotatePoolKey, { poolId, publicKey: OTHER_KEY }).gives({ refused: 'pool-not-found' })
  })
})

describe('delete-pool', () => {
  it('frees its numbers, which stay with their campaign and publisher', () => {
    const deleted = given(workspace, filled.events).when(deletePool, { poolId })
    deleted.gives([{ type: 'NumberAssigned' }, { type: 'PoolDeleted', data: { numbersFreed: 1 } }])
    expect(deleted.state.pools.size).toBe(0)
    expect(deleted.state.numbers.get(first)).toMatchObject({ campaignId, publisherId: blue, poolId: null })
    given(workspace, deleted.events).when(deletePool, { poolId }).gives({ refused: 'pool-not-found' })
  })
})

describe('a fallback number', () => {
  it('is lost when it leaves the campaign', () => {
    const moved = given(workspace, filled.events).when(assignNumber, { numberId: second, campaignId: elsewhere })
    expect(moved.state.pools.get(poolId)?.fallbackNumberId).toBeNull()
  })
})
