import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { callLog } from '../../../projections/calls/call-log.ts'
import { isReproduced } from '../../../src/explain/explanation.ts'
import { withDerivedFields } from '../../../src/kernel/projection.ts'
import { explain } from '../../../src/main/explain.ts'
import { projectionNames, rebuild } from '../../../src/main/rebuild.ts'
import { openReadStore } from '../../../src/main/stores.ts'
import { readAliases } from '../../../src/runtime/projections/build-alias.ts'
import { freshEnvironment, runScript, startServer } from '../../support/e2e/server.ts'

const RECORDED = join(import.meta.dirname, '../../support/fixtures/recorded-data')

const document = z.record(z.string(), z.unknown())
const expected = z
  .object({
    projections: z.record(z.string(), z.object({ documents: z.record(z.string(), document) })),
    calls: z.record(
      z.string(),
      z.object({ ref: z.string(), summary: z.string(), steps: z.unknown(), decisions: z.array(z.string()) }),
    ),
  })
  .parse(JSON.parse(gunzipSync(readFileSync(join(RECORDED, 'expected.json.gz'))).toString()))

/** Fields of documents that were added since, with their value for what was recorded, by projection. */
const ADDED: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  seats: { status: 'member', tokenHash: null, openUntil: '9999-12-31T23:59:59.999Z' },
  users: { resetTokenHash: null },
}

/** Fields of documents that were derived from the others under another name or in another form, by projection. */
const DERIVED: Readonly<Record<string, readonly string[]>> = { 'call-log': ['row'] }

/** A recorded document with the fields that it has today; derived ones are made from the recorded others. */
function updated(projection: string, doc: Readonly<Record<string, unknown>>): unknown {
  const kept = Object.entries(doc).filter(([field]) => !DERIVED[projection]?.includes(field))
  const present = { ...Object.fromEntries(kept), ...ADDED[projection] }
  return projection === callLog.name
    ? withDerivedFields(callLog, callLog.doc.parse({ ...present, csvRow: '' }))
    : present
}

/** Copies the recorded data into a directory, and returns the environment of a platform over it. */
function copyRecorded(dataDir: string) {
  mkdirSync(dataDir, { recursive: true })
  for (const file of readdirSync(RECORDED)) {
    const bytes = readFileSync(join(RECORDED, file))
    if (file.endsWith('.db.gz')) writeFileSync(join(dataDir, file.slice(0, -3)), gunzipSync(bytes))
    if (file === 'master.key' || file === 'sandbox.json') writeFileSync(join(dataDir, file), bytes, { mode: 0o600 })
  }
  return { DATA_DIR: dataDir }
}

/** The documents of every projection's active build, by id. */
async function documentsIn(dataDir: string) {
  const store = await openReadStore(`sqlite:${dataDir}/views.db`)
  try {
    const aliases = await readAliases(store)
    const found = projectionNames.map(async (name) => {
      const rows = await store.find(aliases.get(name)?.alias.active.collection ?? '', { filter: {}, limit: 10_000 })
      return [name, Object.fromEntries(rows.map(({ id, doc }) => [id, doc]))] as const
    })
    return Object.fromEntries(await Promise.all(found))
  } finally {
    await store.close()
  }
}

describe('data that an earlier version wrote', () => {
  const directory = mkdtempSync(join(tmpdir(), 'ringledger-recorded-'))
  const env = copyRecorded(join(directory, 'var'))
  let documents: Awaited<ReturnType<typeof documentsIn>> = {}

  beforeAll(async () => {
    await rebuild(env, projectionNames, () => undefined, new AbortController().signal)
    documents = await documentsIn(env.DATA_DIR)
  })
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  test.for(Object.keys(expected.projections))('rebuilds into the same documents of %s', (name) => {
    const recorded = Object.entries(expected.projections[name]?.documents ?? {})
    expect(documents[name]).toEqual(Object.fromEntries(recorded.map(([id, doc]) => [id, updated(name, doc)])))
  })

  test('explains each call by the same steps and decisions', async () => {
    for (const [callId, { ref, summary, steps, decisions }] of Object.entries(expected.calls)) {
      const explanation = await explain(env, callId, () => undefined)
      expect(explanation).toMatchObject({ ref, summary, steps })
      expect(explanation.decisions.map(({ command }) => command)).toEqual(decisions)
      expect(isReproduced(explanation), ref).toBe(true)
    }
  })
})

test('data that an earlier version wrote is not taken over by another master key', async () => {
  const { DATA_DIR = '', ...more } = freshEnvironment({ name: 'SQLite', connectionStrings: () => ({}) })
  copyRecorded(DATA_DIR)
  const env = { ...more, DATA_DIR, MASTER_KEY: Buffer.alloc(32, 'other').toString('base64') }
  for (const script of ['start', 'rebuild', 'explain', 'reseal']) {
    const { code, stderr } = await runScript(
      env,
      script,
      ...(script === 'rebuild' ? ['--all'] : []),
      ...(script === 'explain' ? ['x'] : []),
    )
    expect([script, code]).toEqual([script, 1])
    expect(stderr).toMatch(/The data is sealed under the master key [0-9a-f]{8}, and MASTER_KEY is the key /)
  }
  rmSync(dirname(DATA_DIR), { recursive: true })
})

test('a platform starts over data that an earlier version wrote, and numbers its next call on', async () => {
  const fresh = freshEnvironment({ name: 'SQLite', connectionStrings: () => ({}) })
  copyRecorded(fresh.DATA_DIR ?? '')
  const server = await startServer(fresh)
  try {
    const { apiKey, sessionToken, numbers, ownerPassword, routingKey } = server.sandbox
    const given = document.parse(JSON.parse(readFileSync(join(RECORDED, 'sandbox.json'), 'utf8')))
    const call = async (path: string, init: RequestInit = {}, credential = apiKey) => {
      const headers = { authorization: `Bearer ${credential}`, 'content-type': 'application/json' }
      const response = await fetch(`${server.baseUrl}${path}`, { ...init, headers })
      return { status: response.status, body: document.parse(await response.json()) }
    }
    const lanes = numbers.filter(({ publisherId }) => publisherId !== null)
    const compatUrls = await Promise.all(
      lanes.map(async ({ campaignId, publisherId }) => {
        const lane = await call(`/api/tracking/campaigns/${campaignId}/publishers/${publisherId}`, {}, sessionToken)
        return new URL(String(document.parse(document.parse(lane.body.lane).compat).url), server.baseUrl).pathname
      }),
    )
    expect(compatUrls).toContain(new URL(String(given.compatUrl)).pathname)
    expect({ apiKey, ownerPassword, routingKey }).toEqual({
      apiKey: given.apiKey,
      ownerPassword: given.ownerPassword,
      routingKey: given.routingKey,
    })
    const recorded = Object.values(expected.projections['call-log']?.documents ?? {})
    const before = await call('/api/v1/calls?pageSize=100&from=2026-11-01T00:00:00.000Z&to=2026-12-01T00:00:00.000Z')
    expect(before).toMatchObject({ status: 200, body: { total: recorded.length } })

    const body = JSON.stringify({ to: numbers[0]?.e164, from: '+14155550144', mode: 'instant' })
    const placed = await call('/api/sandbox/calls', { method: 'POST', body }, sessionToken)
    const next = `CA-${String(recorded.length + 1).padStart(10, '0')}`
    expect(placed).toMatchObject({ status: 201, body: { ref: next } })
    expect(await call(`/api/v1/calls/${placed.body.callId}`)).toMatchObject({
      status: 200,
      body: { call: { ref: next } },
    })
  } finally {
    await server.dispose()
  }
})
