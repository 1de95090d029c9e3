import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { isReproduced } from '../../../src/explain/explanation.ts'
import { explain } from '../../../src/main/explain.ts'
import { projectionNames, rebuild } from '../../../src/main/rebuild.ts'
import { openLog } from '../../../src/main/stores.ts'
import { createApiClient } from '../../support/e2e/api-client.ts'
import { embeddedStores, freshEnvironment, runScript, startServer } from '../../support/e2e/server.ts'
import {
  compatPathsOf,
  copyRecorded,
  documentsIn,
  expectedData,
  RECORDED,
} from '../../support/fixtures/recorded-data.ts'
import { partitionViolations } from '../../support/oracle/partitions.ts'

const recorded = expectedData.parse(JSON.parse(gunzipSync(readFileSync(join(RECORDED, 'expected.json.gz'))).toString()))
const document = z.record(z.string(), z.unknown())

describe('data that an earlier version wrote in this format', () => {
  const directory = mkdtempSync(join(tmpdir(), 'ringledger-recorded-'))
  const env = { DATA_DIR: join(directory, 'var') }
  copyRecorded(RECORDED, env.DATA_DIR)
  let documents: Awaited<ReturnType<typeof documentsIn>> = {}

  beforeAll(async () => {
    await rebuild(env, projectionNames, () => undefined, new AbortController().signal)
    documents = await documentsIn(env.DATA_DIR)
  })
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  test.for(Object.keys(recorded.projections))('rebuilds into the same documents of %s', (name) => {
    expect(documents[name]).toEqual(recorded.projections[name])
  })

  test('explains each call by the same steps and decisions', async () => {
    for (const [callId, { ref, summary, steps, decisions }] of Object.entries(recorded.calls)) {
      const explanation = await explain(env, callId, () => undefined)
      expect(explanation).toMatchObject({ ref, summary, steps })
      expect(explanation.decisions.map(({ command }) => command)).toEqual(decisions)
      expect(isReproduced(explanation), ref).toBe(true)
    }
  })

  test('has every stream in its partition', async () => {
    const log = await openLog(`sqlite:${join(env.DATA_DIR, 'events.db')}`)
    const { events, end } = await log.readAll(-1, 10_000)
    expect([end, partitionViolations(events)]).toEqual([true, []])
    await log.close()
  })
})

test('data that an earlier version wrote is not taken over by another master key', async () => {
  const { DATA_DIR = '', ...more } = freshEnvironment(embeddedStores)
  copyRecorded(RECORDED, DATA_DIR)
  const env = { ...more, DATA_DIR, MASTER_KEY: Buffer.alloc(32, 'other').toString('base64') }
  for (const [script = '', ...options] of [['start'], ['rebuild', '--all'], ['explain', 'x'], ['reseal']]) {
    const { code, stderr } = await runScript(env, script, ...options)
    expect([script, code]).toEqual([script, 1])
    expect(stderr).toMatch(/The data is sealed under the master key [0-9a-f]{8}, and MASTER_KEY is the key /)
  }
  rmSync(dirname(DATA_DIR), { recursive: true })
})

test('a platform starts over data that an earlier version wrote, and numbers its next call on', async () => {
  const fresh = freshEnvironment(embeddedStores)
  copyRecorded(RECORDED, fresh.DATA_DIR ?? '')
  const server = await startServer(fresh)
  try {
    const { apiKey, sessionToken, numbers, ownerPassword, routingKey } = server.sandbox
    const given = document.parse(JSON.parse(readFileSync(join(RECORDED, 'sandbox.json'), 'utf8')))
    const key = createApiClient(() => server.baseUrl, apiKey)
    const session = createApiClient(() => server.baseUrl, sessionToken)
    expect(recorded.compatPaths).not.toEqual([])
    expect(await compatPathsOf(session, server.sandbox)).toEqual(recorded.compatPaths)
    expect({ apiKey, ownerPassword, routingKey }).toEqual({
      apiKey: given.apiKey,
      ownerPassword: given.ownerPassword,
      routingKey: given.routingKey,
    })
    const calls = Object.values(recorded.projections['call-log'] ?? {})
    const starts = calls.map(({ startedMs }) => Number(startedMs))
    const [from, to] = [Math.min(...starts), Math.max(...starts) + 1].map((ms) => new Date(ms).toISOString())
    expect(await key(`/api/v1/calls?pageSize=100&from=${from}&to=${to}`)).toMatchObject({
      status: 200,
      body: { total: calls.length },
    })

    const body = { to: numbers[0]?.e164, from: '+14155550144', mode: 'instant' }
    const placed = await session('/api/sandbox/calls', { method: 'POST', body })
    const next = `CA-${String(calls.length + 1).padStart(10, '0')}`
    expect(placed).toMatchObject({ status: 201, body: { ref: next } })
    expect(await key(`/api/v1/calls/${placed.body.callId}`)).toMatchObject({
      status: 200,
      body: { call: { ref: next } },
    })
  } finally {
    await server.dispose()
  }
})
