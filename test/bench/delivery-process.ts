import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { changeWebhook } from '../../commands/delivery/change-webhook.ts'
import { createWebhook } from '../../commands/delivery/create-webhook.ts'
import { queueDelivery } from '../../commands/delivery/queue-delivery.ts'
import { webhookCounters } from '../../projections/delivery/webhook-counters.ts'
import { openLogger } from '../../src/adapters/http/logger.ts'
import { call, callEvents } from '../../src/domain/calls/call.ts'
import { sampleData } from '../../src/domain/delivery/sample.ts'
import { derivedId } from '../../src/kernel/derived-id.ts'
import { streamOf } from '../../src/kernel/entity.ts'
import { dataOf } from '../../src/kernel/event.ts'
import { collectionOf } from '../../src/kernel/projection.ts'
import { openApp } from '../../src/main/app.ts'
import { readConfig } from '../../src/main/config.ts'
import { systemRandom as random } from '../../src/main/system.ts'
import { secretRecordOf } from '../../src/reactions/webhook-secrets.ts'
import { execute } from '../../src/seed/tenants.ts'
import { createTenantWorkspace } from '../support/e2e/world.ts'
import { HOST } from './api-server.ts'
import { privateBytes } from './measure.ts'

/** How long a receiver takes (ms). */
const RECEIVER_MS = 5
/** Requests of the bare client at the same time: those of fifty endpoints. */
const IN_FLIGHT = 400
/** Commands that queue deliveries at the same time. */
const QUEUE_WIDTH = 64
/** Buffer of the calls whose settlement is timed (s), and the time between them (ms). */
const BUFFER_SECONDS = 5
const CALL_EVERY_MS = 40

/** What a process of the benchmark is. */
export type DeliveryPart =
  | { readonly part: 'receivers' }
  | { readonly part: 'bare'; readonly url: string; readonly endpoints: number }
  | { readonly part: 'ours'; readonly url: string; readonly endpoints: number; readonly directory: string }

/** Times from an event to the first byte at a receiver (ms), by the path of the endpoint. */
export interface Received {
  readonly total: number
  readonly delays: Readonly<Record<string, readonly number[]>>
}

/** What a process is asked. */
export type DeliveryQuestion =
  | { readonly ask: 'received' | 'memory' | 'left' }
  /** Pauses or resumes endpoints in the order in which they were added. */
  | { readonly ask: 'status'; readonly from: number; readonly count: number; readonly status: 'active' | 'paused' }
  | {
      readonly ask: 'queue'
      readonly deliveries: number
      readonly endpoints: number
      readonly perSecond: number | null
    }
  | { readonly ask: 'add'; readonly path: string; readonly endpoints: number }
  | { readonly ask: 'post'; readonly deliveries: number }
  /** Calls that settle after a buffer: how late each settled (ms). */
  | { readonly ask: 'settle'; readonly calls: number }

async function openReceivers() {
  let received: { total: number; delays: Record<string, number[]> } = { total: 0, delays: {} }
  const server = createServer((incoming, response) => {
    const at = Date.now()
    const parts: Buffer[] = []
    incoming.on('data', (part: Buffer) => parts.push(part))
    incoming.on('end', () => {
      const path = incoming.url ?? ''
      if (path.startsWith('/dead')) return
      received.total += 1
      const { data } = JSON.parse(Buffer.concat(parts).toString('utf8'))
      const delays = received.delays[path] ?? []
      received.delays[path] = delays
      delays.push(at - Date.parse(data?.startedAt ?? new Date(at).toISOString()))
      setTimeout(() => response.end('{"ok":true}'), RECEIVER_MS)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve))
  const address = server.address()
  return {
    url: `http://${HOST}:${typeof address === 'object' ? address?.port : 0}`,
    answer() {
      const answer = received
      received = { total: 0, delays: {} }
      return answer
    },
  }
}

const sample = () => ({ ...sampleData('call.completed'), startedAt: new Date().toISOString() })

/** The ceiling: signed POSTs of the same bytes by the same client. */
function openBare({ url, endpoints }: Extract<DeliveryPart, { part: 'bare' }>) {
  const agent = new Agent({ connections: null, pipelining: 1 })
  const post = async (n: number) => {
    const at = new Date().toISOString()
    const id = `req_${'0'.repeat(32)}`
    const body = JSON.stringify({ id, event: 'call.completed', createdAt: at, data: sample() })
    const t = Math.floor(Date.now() / 1_000)
    const v1 = createHmac('sha256', 'whsec_bench').update(`${t}.${body}`).digest('hex')
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'svc-webhooks/1',
      'svc-event': 'call.completed',
      'svc-request-id': id,
      'svc-attempt': '1',
      'svc-signature': `t=${t},v1=${v1}`,
    }
    const answer = await request(`${url}/${n % endpoints}`, { method: 'POST', headers, body, dispatcher: agent })
    await answer.body.text()
  }
  return async (deliveries: number) => {
    const begun = performance.now()
    let next = 0
    const turn = async () => {
      while (next < deliveries) await post(next++)
    }
    await Promise.all(Array.from({ length: IN_FLIGHT }, turn))
    return { perSecond: (deliveries * 1_000) / (performance.now() - begun) }
  }
}

async function openOurs({ url, endpoints, directory }: Extract<DeliveryPart, { part: 'ours' }>) {
  const env = { DATA_DIR: directory, PORT: '0', SANDBOX_SEED: '0', EGRESS_ALLOW: '127.0.0.1/32' }
  const app = await openApp(readConfig(env), openLogger({ level: 'silent' }))
  const tenant = await createTenantWorkspace(app.writer, { name: 'Bench' })
  const { workspaceId } = tenant
  const target = await tenant.target(await tenant.buyer({ name: 'Buyer' }))
  const { e164 } = await tenant.line({ name: 'Buffered', bufferSeconds: BUFFER_SECONDS }, [target])
  const ids: string[] = []
  async function add(path: string, count: number): Promise<void> {
    for (let n = 0; n < count; n += 1) {
      const webhookId = random.uuid()
      const settings = {
        name: `Endpoint ${path}${n}`,
        url: `${url}/${path}${n}`,
        method: 'POST' as const,
        // What is sent is queued by hand: the calls that are settled beside it must not be told to a thousand endpoints.
        eventPattern: ['wallet.low' as const],
        campaignId: null,
        publisherId: null,
        headers: {},
        bodyTemplate: null,
        note: null,
      }
      const secret = secretRecordOf(app.secrets, webhookId, 1)
      await execute(app.writer, workspaceId, createWebhook, { webhookId, kind: 'webhook', settings, secret })
      ids.push(webhookId)
    }
  }
  await add('', endpoints)
  const baseUrl = await app.listen()
  const setStatus = async ({ from, count, status }: Extract<DeliveryQuestion, { ask: 'status' }>) => {
    for (const webhookId of ids.slice(from, from + count))
      await execute(app.writer, workspaceId, changeWebhook, { webhookId, changes: {}, status })
  }
  async function queueOne(webhookId: string): Promise<void> {
    const data = sample()
    await execute(app.writer, workspaceId, queueDelivery, {
      deliveryId: derivedId(random.uuid()),
      webhookId,
      occurredAt: data.startedAt,
      requestId: `req_${random.uuid().replaceAll('-', '')}`,
      event: 'call.completed',
      callId: null,
      campaignId: null,
      publisherId: null,
      test: false,
      data,
    })
  }
  async function queue(deliveries: number, among: number, perSecond: number | null): Promise<void> {
    const begun = performance.now()
    let next = 0
    const turn = async () => {
      for (let n = next++; n < deliveries; n = next++) {
        const dueMs = perSecond === null ? 0 : (n / perSecond) * 1_000 - (performance.now() - begun)
        if (dueMs > 0) await sleep(dueMs)
        await queueOne(ids[n % among] ?? '')
      }
    }
    await Promise.all(Array.from({ length: QUEUE_WIDTH }, turn))
  }
  /** Plays a call that ends now, and waits until it is settled. Resolves to how late that was (ms). */
  async function settleOne(): Promise<number> {
    const headers = { authorization: `Bearer ${tenant.session}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ to: e164, mode: 'instant' })
    const response = await fetch(`${baseUrl}/api/sandbox/calls`, { method: 'POST', headers, body })
    const { callId } = (await response.json()) as { readonly callId: string }
    for (;;) {
      const events = await app.log.read(streamOf(call, callId, workspaceId), 0)
      const settled = events.find(({ type }) => type === 'CallSettled')
      const due = dataOf(callEvents, events, 'CallEnded')?.settlesAt
      if (settled && due) return Date.parse(settled.meta.at) - Date.parse(due)
      await sleep(200)
    }
  }
  async function settle(calls: number): Promise<readonly number[]> {
    const delays: Promise<number>[] = []
    for (let n = 0; n < calls; n += 1) {
      delays.push(settleOne())
      await sleep(CALL_EVERY_MS)
    }
    return Promise.all(delays)
  }
  /** Deliveries of the read models that wait. */
  async function left(): Promise<number> {
    const rows = await app.readSide.views.find(collectionOf(webhookCounters), { filter: {}, limit: 10_000 })
    return rows.reduce((sum, { doc }) => sum + Number(doc.waiting), 0)
  }
  return {
    app,
    opened: { baseUrl, key: tenant.key, webhookIds: ids.slice(0, endpoints) },
    add,
    setStatus,
    queue,
    left,
    settle,
  }
}

async function main(part: DeliveryPart): Promise<void> {
  const answer = (message: unknown) => process.send?.(message)
  let reply: (question: DeliveryQuestion) => unknown = () => null
  if (part.part === 'receivers') {
    const receivers = await openReceivers()
    answer({ url: receivers.url })
    reply = () => receivers.answer()
  } else if (part.part === 'bare') {
    const post = openBare(part)
    answer({ ready: true })
    reply = (question) => (question.ask === 'post' ? post(question.deliveries) : null)
  } else {
    const ours = await openOurs(part)
    answer(ours.opened)
    process.once('disconnect', () => ours.app.close().then(() => process.exit(0)))
    reply = async (question) => {
      if (question.ask === 'queue') await ours.queue(question.deliveries, question.endpoints, question.perSecond)
      if (question.ask === 'add') await ours.add(question.path, question.endpoints)
      if (question.ask === 'status') await ours.setStatus(question)
      if (question.ask === 'settle') return { delays: await ours.settle(question.calls) }
      return { left: await ours.left(), ...(question.ask === 'memory' && { bytes: privateBytes() }) }
    }
  }
  process.on('message', async (question: DeliveryQuestion) => answer(await reply(question)))
  if (part.part !== 'ours') process.once('disconnect', () => process.exit(0))
}

if (process.argv[2]) await main(JSON.parse(process.argv[2]))
