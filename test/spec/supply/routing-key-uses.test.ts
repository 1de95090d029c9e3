import { describe, expect, test } from 'vitest'
import { createRoutingKeyUses } from '../../../src/api/routing-key-uses.ts'
import { keyUsageEntry } from '../../../src/domain/supply/routing-key-use.ts'
import { StoreUnavailable } from '../../../src/ports/read-store.ts'
import { createManualClock } from '../../support/memory/clock.ts'
import { createMemoryOperationalStore } from '../../support/memory/operational-store.ts'

const workspaceId = 'w1'
const at = (second: number) => `2026-03-10T15:00:${String(second).padStart(2, '0')}.000Z`

function world() {
  const clock = createManualClock()
  const ops = createMemoryOperationalStore()
  const [state, lost, puts] = [{ isAway: false }, [] as number[], [] as string[]]
  const store = {
    get: ops.get,
    putIf: async (...put: Parameters<typeof ops.putIf>) => {
      if (state.isAway) throw new StoreUnavailable('away')
      puts.push(put[0])
      return ops.putIf(...put)
    },
  }
  const open = () => createRoutingKeyUses({ ops: store, clock, onLost: (count) => lost.push(count) })
  const stored = async (keyId = 'k1') => (await ops.get(keyUsageEntry({ workspaceId, keyId }), clock.now()))?.value
  return { clock, open, stored, state, lost, puts }
}

describe('the uses of routing keys', () => {
  test('are written in batches, one write for each key, the latest instant whatever their order', async () => {
    const { clock, open, stored, puts } = world()
    const uses = open()
    for (const second of [1, 9, 5]) uses.add({ workspaceId, keyId: 'k1', at: at(second) })
    uses.add({ workspaceId, keyId: 'k2', at: at(3) })
    await clock.advance(249)
    expect([await stored(), puts]).toEqual([undefined, []])
    await clock.advance(1)
    expect([await stored(), await stored('k2')]).toEqual([
      { useCount: 3, lastUsedAt: at(9) },
      { useCount: 1, lastUsedAt: at(3) },
    ])
    expect(puts).toHaveLength(2)
    uses.add({ workspaceId, keyId: 'k1', at: at(2) })
    await uses.flush()
    expect(await stored()).toEqual({ useCount: 4, lastUsedAt: at(9) })
  })

  test('of several processes add up', async () => {
    const { open, stored } = world()
    const processes = [open(), open(), open()]
    for (const [n, uses] of processes.entries()) uses.add({ workspaceId, keyId: 'k1', at: at(n) })
    await Promise.all(processes.map((uses) => uses.flush()))
    expect(await stored()).toEqual({ useCount: 3, lastUsedAt: at(2) })
  })

  test('are kept while the store is unavailable, and reported as lost when the process ends before it is back', async () => {
    const { clock, open, stored, state, lost } = world()
    const uses = open()
    state.isAway = true
    uses.add({ workspaceId, keyId: 'k1', at: at(1) })
    await clock.advance(1_000)
    uses.add({ workspaceId, keyId: 'k1', at: at(2) })
    state.isAway = false
    await clock.advance(250)
    expect(await stored()).toEqual({ useCount: 2, lastUsedAt: at(2) })
    state.isAway = true
    uses.add({ workspaceId, keyId: 'k1', at: at(3) })
    await uses.close()
    expect([await stored(), lost]).toEqual([{ useCount: 2, lastUsedAt: at(2) }, [1]])
  })

  test('are written when the process ends', async () => {
    const { open, stored } = world()
    const uses = open()
    uses.add({ workspaceId, keyId: 'k1', at: at(1) })
    await uses.close()
    expect(await stored()).toEqual({ useCount: 1, lastUsedAt: at(1) })
  })
})
