import { z } from 'zod'
import { changePool } from '../../../commands/supply/change-pool.ts'
import { createPool } from '../../../commands/supply/create-pool.ts'
import { deletePool } from '../../../commands/supply/delete-pool.ts'
import { rotatePoolKey } from '../../../commands/supply/rotate-pool-key.ts'
import { getPool } from '../../../queries/supply/get-pool.ts'
import { poolShape } from '../../../queries/supply/pool-shape.ts'
import { newPool, poolChanges } from '../../domain/supply/pool.ts'
import { id } from '../../kernel/wire.ts'
import type { Random } from '../../ports/random.ts'
import { defineWrite } from './define-write.ts'
import { recordRoute, type Write } from './write-route.ts'

const path = '/api/tracking/pools'
const byId = recordRoute('pools')
const poolResponse = z.object({ pool: poolShape })

const KEY_BYTES = 12

/** A new public key of a pool. */
export function newPoolKey(random: Random): string {
  return `pk_${Buffer.from(random.bytes(KEY_BYTES)).toString('hex')}`
}

const create = defineWrite({
  name: 'create-pool',
  summary: 'Add a number pool',
  method: 'POST',
  mounts: [{ surface: 'console', path }],
  body: newPool.extend({ campaignId: id }),
  responses: { 201: poolResponse },
  command: createPool,
  input: ({ body: { campaignId, ...settings }, context }) => ({
    campaignId,
    settings,
    publicKey: newPoolKey(context.tools.random),
  }),
  answer: { query: getPool, params: ({ outcome }) => ({ id: outcome.first('PoolCreated')?.pool.id ?? '' }) },
})

const change = defineWrite({
  ...byId,
  name: 'change-pool',
  summary: 'Change a number pool',
  method: 'PATCH',
  mounts: [{ surface: 'console', path: `${path}/:id` }],
  body: poolChanges,
  responses: { 200: poolResponse },
  command: changePool,
  // Its leases end before the response.
  runsEffects: true,
  input: ({ params, body }) => ({ poolId: params.id, changes: body }),
  answer: { query: getPool, params: ({ params }) => params },
})

const rotateKey = defineWrite({
  ...byId,
  name: 'rotate-pool-key',
  summary: "Replace a number pool's public key",
  method: 'POST',
  mounts: [{ surface: 'console', path: `${path}/:id/key/rotate` }],
  responses: { 200: poolResponse },
  command: rotatePoolKey,
  // Its leases end before the response.
  runsEffects: true,
  input: ({ params, context }) => ({ poolId: params.id, publicKey: newPoolKey(context.tools.random) }),
  answer: { query: getPool, params: ({ params }) => params },
})

const remove = defineWrite({
  ...byId,
  name: 'delete-pool',
  summary: 'Remove a number pool and free its numbers',
  method: 'DELETE',
  mounts: [{ surface: 'console', path: `${path}/:id` }],
  responses: { 200: z.object({ deleted: id, numbersFreed: z.int() }) },
  command: deletePool,
  // Its leases end before the response.
  runsEffects: true,
  input: ({ params }) => ({ poolId: params.id }),
  respond: ({ params, outcome }) => ({
    deleted: params.id,
    numbersFreed: outcome.first('PoolDeleted')?.numbersFreed ?? 0,
  }),
})

/** Writes of number pools (Supplement §9). */
export const poolWrites: readonly Write[] = [create, change, rotateKey, remove]
