import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { runScript } from '../../support/e2e/server.ts'
import { suite } from '../../support/e2e/suite.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const buyer = await main.buyer({ name: 'Acme' })
  const busy = await main.target(buyer, { name: 'Busy desk' })
  const free = await main.target(buyer, { name: 'Free desk' })
  const publisherId = await main.publisher({ name: 'Newcomer', status: 'paused' })
  const terms = { payoutMode: 'fixed', payoutCents: 350 }
  return { main, busy, line: await main.line({ name: 'Solar' }, [busy, free], { publisherId, terms }) }
}

const { it, main, the, server } = suite('scripts beside a running platform', world)

it('npm run explain replays the decisions on a call, and prints its waterfall', async () => {
  const script = { [the.busy]: [{ result: 'busy' }] }
  const { call, story } = await main.playCall({ to: the.line.e164, script })
  const { code, stdout, stderr } = await runScript(server.env, 'explain', call.id)
  expect(code, stderr).toBe(0)
  expect(stdout).toContain(`${call.ref}: ${story.summary.sentence}`)
  for (const { sentence } of story.steps) expect(stdout).toContain(sentence)
  expect(call.frozen.payoutWithheld).toBe('publisher_not_live')
  expect(stdout).toContain('The payout is withheld: the publisher was not live when the call arrived.')
  expect(stdout).toMatch(/route-call: same .*\n(.*\n)*.*fail-over: same/)
  expect(stdout).toMatch(/All \d+ decisions are reproduced\.\n$/)
})

it.each([
  [[], 'Usage: npm run explain -- <id of a call or auction>'],
  [
    ['CA-0000000001'],
    '"CA-0000000001" is no id of a call or auction: it is a UUID, which GET /api/v1/calls?ref=CA-… tells of a public reference.',
  ],
  [['01900000-0000-7000-8000-000000000000'], 'There is no call or auction 01900000-0000-7000-8000-000000000000.'],
])('npm run explain of %j ends with a sentence', async (words, sentence) => {
  expect(await runScript(server.env, 'explain', ...words)).toEqual({ code: 1, stdout: '', stderr: `${sentence}\n` })
})

it('npm run rebuild rebuilds a read model, which answers as before', async () => {
  const read = () => main.console('/api/tracking/verticals')
  const before = await read()
  const { code, stdout, stderr } = await runScript(server.env, 'rebuild', 'verticals')
  expect(code, stderr).toBe(0)
  expect(stdout).toContain('Rebuilt verticals.')
  expect((await read()).body).toEqual(before.body)
})

it.each([
  [[], /^Name projections to rebuild, or use --all\. Projections: .*verticals/],
  [['horoscopes'], /^Unknown projection "horoscopes"\. Projections: .*verticals/],
])('npm run rebuild of %j ends with a sentence', async (words, sentence) => {
  const { code, stdout, stderr } = await runScript(server.env, 'rebuild', ...words)
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(sentence)
})
