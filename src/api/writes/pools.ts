import { z } from 'zod'
import { changePool } from '../../../commands/supply/change-pool.ts'
import { createPool } from '../../../commands/supply/create-pool.ts'
import { deletePool } from '../../../commands/supply/delete-pool.ts'
import { rotatePoolKey } from '../../../commands/supply/rotate-pool-key.ts'
import { getPool } from '../../../queries/supply/get-pool.ts'
import { poolShape } from '../../../queries/supply/pool-shape.ts'
import { newPool, poolChanges } from '../../domain/supply/pool.ts'
import { isRefusal } from '../../kernel/refusal.ts'
import { id } from '../../kernel/wire.ts'
import type { Random } from '../../ports/random.ts'
import { defineWrite, recordRoute, type Write } from './define-write.ts'

const path = '/api/tracking/pools'
const one = recordRoute('pools')
const answered = z.object({ pool: poolShape })

const KEY_BYTES = 12

/** A fresh public key of a pool. */
export function newPoolKey(random: Random): string {
  return `pk_${Buffer.from(random.bytes(KEY_BYTES)).toString('hex')}`
}

const create = defineWrite({
  name: 'create-pool',
  summary: 'Add a number pool',
  method: 'POST',
  mounts: [{ surface: 'console', path }],
  body: newPool.extend({ campaignId: id }),
  responses: { 201: answered },
  rejects: createPool.rejects,
  async run({ body: { campaignId, ...settings }, act, ask, tools }) {
    const done = await act(createPool, { campaignId, settings, publicKey: newPoolKey(tools.random) })
    if (isRefusal(done)) return done
    const answer = await ask(getPool, { id: done.first('PoolCreated')?.pool.id ?? '' })
    return isRefusal(answer) ? answer : { status: 201, body: answer }
  },
})

const change = defineWrite({
  ...one,
  name: 'change-pool',
  summary: 'Change a number pool',
  method: 'PATCH',
  mounts: [{ surface: 'console', path: `${path}/:id` }],
  body: poolChanges,
  responses: { 200: answered },
  rejects: changePool.rejects,
  async run({ params, body, act, ask }) {
    const done = await act(changePool, { poolId: params.id, changes: body })
    if (isRefusal(done)) return done
    const answer = await ask(getPool, params)
    return isRefusal(answer) ? answer : { status: 200, body: answer }
  },
})

const rotateKey = defineWrite({
  ...one,
  name: 'rotate-pool-key',
  summary: "Replace a number pool's public key",
  method: 'POST',
  mounts: [{ surface: 'console', path: `${path}/:id/key/rotate` }],
  responses: { 200: answered },
  rejects: rotatePoolKey.rejects,
  async run({ params, act, ask, tools }) {
    const done = await act(rotatePoolKey, { poolId: params.id, publicKey: newPoolKey(tools.random) })
    if (isRefusal(done)) return done
    const answer = await ask(getPool, params)
    return isRefusal(answer) ? answer : { status: 200, body: answer }
  },
})

const remove = defineWrite({
  ...one,
  name: 'delete-pool',
  summary: 'Remove a number pool and free its numbers',
  method: 'DELETE',
  mounts: [{ surface: 'console', path: `${path}/:id` }],
  responses: { 200: z.object({ deleted: id, numbersFreed: z.int() }) },
  rejects: deletePool.rejects,
  async run({ params, act }) {
    const done = await act(deletePool, { poolId: params.id })
    if (isRefusal(done)) return done
    const numbersFreed = done.first('PoolDeleted')?.numbersFreed ?? 0
    return { status: 200, body: { deleted: params.id, numbersFreed } }
  },
})

/** Writes of number pools (Supplement §9). */
export const poolWrites: readonly Write[] = [create, change, rotateKey, remove]
