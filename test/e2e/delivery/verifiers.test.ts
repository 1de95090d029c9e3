import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { suite } from '../../support/e2e/suite.ts'
import { createWebhookClient } from '../../support/e2e/webhook-client.ts'
import { answerWith, startWebhookReceiver, type WebhookReceiver } from '../../support/e2e/webhook-receiver.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'
import { missingFor, PROGRAMS, VERIFIERS } from '../../support/verifiers.ts'

const { it, beforeAll, afterAll, main } = suite(
  'verifiers',
  async (writer: StreamWriter) => ({ main: await createTenantWorkspace(writer, { name: 'Main' }) }),
  { stores: 'embedded' },
)

const webhooks = createWebhookClient(main)
let receiver: WebhookReceiver
beforeAll(async () => {
  receiver = await startWebhookReceiver({ verified: answerWith(200) })
})
afterAll(() => receiver.close())

/** What a program says of a body: its status and its first line. */
async function verify({ name, command }: (typeof PROGRAMS)[number], args: readonly string[], body: Uint8Array) {
  const program = spawn(command, [join(VERIFIERS, name), ...args])
  program.stdin.end(body)
  const [said, why, [status]] = await Promise.all([text(program.stdout), text(program.stderr), once(program, 'close')])
  return [status, `${said}${why}`.trim()]
}

it.each(PROGRAMS.filter((program) => missingFor(program).length === 0))(
  '$name accepts a delivery as it arrived, and refuses it written anew or under another secret',
  async (program) => {
    const { id, secret } = await webhooks.created({ url: receiver.url('verified') })
    const before = receiver.got('verified').length
    await webhooks.test(id)
    const request = (await receiver.until('verified', before + 1)).at(-1)
    const body = request?.body ?? Buffer.alloc(0)
    const header = String(request?.headers['svc-signature'])
    const anew = Buffer.from(JSON.stringify(JSON.parse(body.toString('utf8')), null, 1))
    expect(await verify(program, [secret, header], body)).toEqual([0, 'ok'])
    expect((await verify(program, [secret, header], anew))[0]).toBe(1)
    expect((await verify(program, [`${secret}x`, header], body))[0]).toBe(1)
  },
)
