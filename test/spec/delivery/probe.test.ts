import { test } from 'vitest'
import { createHistory } from '../../support/fixtures/history.ts'
import { commands } from '../../support/fixtures/registry.ts'

test('probe', async () => {
  const counts: Record<string, number> = {}
  for (let w = 0; w < 4; w++) {
    const history = createHistory()
    for (let r = 0; r < 40; r++)
      for (const [i, { name }] of commands.entries())
        await history.executeStep({ name, seed: (w * 40 + r) * 1_009 + i })
    for (const { type } of history.log.events) if (/Webhook|Delivery/.test(type)) counts[type] = (counts[type] ?? 0) + 1
  }
  console.log(JSON.stringify(counts))
}, 60000)
