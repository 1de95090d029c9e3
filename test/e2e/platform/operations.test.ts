import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { waitUntil } from '../../support/e2e/server.ts'
import { suite } from '../../support/e2e/suite.ts'
import { answerScript } from '../../support/e2e/tenant-client.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const DESK = '+13125550001'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const desk = await main.target(await main.buyer({ name: 'Acme' }), { endpoint: { destinationE164: DESK } })
  return { main, line: await main.line({ name: 'Open' }, [desk]) }
}

const { it, main, the, server } = suite('a process', world, { env: {} })

const idsOf = async () => {
  const { body } = await main.rest('/api/v1/calls?pageSize=200')
  return body.data.map(({ id }: { readonly id: string }) => id)
}

it('a process that is stopped finishes what it has accepted and exits with 0', async () => {
  const sent = Array.from({ length: 40 }, () =>
    main.placeCall({ to: the.line.e164, mode: 'instant' }).catch(() => null),
  )
  await Promise.race(sent)
  const ended = await server.stop()
  expect(ended).toMatchObject({ code: 0, stderr: '' })
  const answers = await Promise.all(sent)
  const accepted = answers.flatMap((answer) => (answer?.status === 201 ? [answer.body.callId] : []))
  expect(accepted.length).toBeGreaterThan(0)
  for (const answer of answers) expect([201, 503, undefined]).toContain(answer?.status)
  await server.restart()
  expect(await idsOf()).toEqual(expect.arrayContaining(accepted))
  const { body } = await main.rest('/api/v1/calls?outcome=live')
  expect(body.total).toBe(0)
})

it('a process killed during a live call resumes the call after its restart and settles it once', async () => {
  const placed = await main.placeCall({ to: the.line.e164, speed: 60, script: { [DESK]: answerScript(90) } })
  expect(placed.status, placed.text).toBe(201)
  await server.kill()
  await server.restart()
  const { call, story } = await waitUntil('The call settles', async () => {
    const read = await main.readCall(placed.body.callId)
    return read.call.settledAt !== null && read
  })
  expect(call).toMatchObject({ outcome: 'converted', attemptCount: 1, revenueCents: 1_000 })
  const types = story.events.map(({ type }: { readonly type: string }) => type)
  expect(types.filter((type: string) => type !== 'recording.saved')).toEqual([
    'call.arrived',
    'target.dialed',
    'target.answered',
    'call.ended',
    'call.settled',
  ])
})

it('a process logs no secrets and no callers', async () => {
  await main.placeCall({ to: the.line.e164, from: '+14155550177', mode: 'instant' })
  const ended = await server.stop()
  expect(ended.stdout + ended.stderr).not.toMatch(/\+14155550177/)
  expect(ended.stdout + ended.stderr).not.toContain(the.main.session)
  await server.restart()
})
