import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { createNumberClient } from '../../support/e2e/number-client.ts'
import { waitUntil } from '../../support/e2e/server.ts'
import { suite } from '../../support/e2e/suite.ts'
import { createTenantWorkspace, OPENING_BALANCE_CENTS } from '../../support/e2e/world.ts'

async function world(writer: StreamWriter) {
  return { main: await createTenantWorkspace(writer, { name: 'Growth', planId: 'growth' }) }
}

const { it, main, server } = suite('orders of numbers after a kill', world, { env: {} })
const growth = createNumberClient(main.console)

it('an order continues after the process was killed', async () => {
  const before = await growth.wallet()
  const slow = await growth.buy({ endsWith: '0001' })
  await server.kill()
  await server.restart()
  const { order, number } = await growth.finishedOrder(slow.body.order.id)
  expect([order.status, number.webhookStatus]).toEqual(['completed', expect.stringMatching(/ready|pending/)])
  await waitUntil('The setup is charged', async () => (await growth.spentSince(before)) === 100)
  await growth.balanced(OPENING_BALANCE_CENTS)
})
