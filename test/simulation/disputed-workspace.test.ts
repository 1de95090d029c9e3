import { afterEach, describe, expect, test } from 'vitest'
import { openLog } from '../../src/main/stores.ts'
import { createApiClient } from '../support/e2e/api-client.ts'
import { storeSetups, waitUntil } from '../support/e2e/server.ts'
import { createWorldIn } from '../support/e2e/world.ts'
import { createFaultEnvironment } from '../support/faults/environment.ts'
import { auditUntilDone } from '../support/faults/last-audit.ts'
import { createPlatformProcess, freePort, type PlatformProcess, READY_MS } from '../support/faults/platform-process.ts'
import { buildFaultWorld } from '../support/faults/world.ts'

/** Calls of a wave, at once. */
const CALLS = 60
/** How long waves go on until commands are forwarded: a process that is slow to answer is left alone for seconds. */
const FORWARDED_MS = 60_000
const SETTLE_MS = 120_000
const METRICS_TOKEN = 'm'.repeat(32)
/** Processes that are not alone on their stores, of which either can do everything. */
const ROLES = 'command-api,projector,worker'

const running: PlatformProcess[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.kill()))
})

/** How many commands a process has forwarded to another that answered. */
async function forwardedBy({ baseUrl }: PlatformProcess): Promise<number> {
  const answer = await fetch(`${baseUrl}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } })
  return Number(/^commands_forwarded_total\{answered="true"\} (\d+)$/m.exec(await answer.text())?.[1] ?? 0)
}

async function startTwo(env: Readonly<Record<string, string>>) {
  const both = [createPlatformProcess(env), createPlatformProcess({ ...env, PORT: await freePort() })] as const
  running.push(...both)
  for (const one of both) {
    one.start()
    await one.waitUntilAnswering()
  }
  for (const { baseUrl } of both)
    await waitUntil('The process is ready', async () => (await fetch(`${baseUrl}/readyz`)).ok, READY_MS)
  return both
}

describe.each(storeSetups)('a workspace whose commands meet in two processes over $name', (setup) => {
  test('is decided by one of them, and by the other once that is killed', { timeout: 300_000 }, async () => {
    const { env, eventLogUrl, remove } = await createFaultEnvironment(setup)
    const { tenant, lines, targets } = await createWorldIn(env, buildFaultWorld)
    const both = await startTwo({ ...env, ROLES, METRICS_TOKEN, SHARDS: '4' })
    let alive: readonly PlatformProcess[] = both
    const script = Object.fromEntries(
      targets.map((target) => [target, [{ result: 'answer', afterSeconds: 3, talkSeconds: 30 }]]),
    )
    const acknowledged: string[] = []
    /** Places a call at one of the living processes, again where that dies or is overloaded. */
    const place = async (n: number): Promise<void> => {
      for (let tries = 0; tries < 20; tries += 1) {
        const { baseUrl } = alive[(n + tries) % alive.length] ?? both[0]
        const ask = createApiClient(() => baseUrl, tenant.session)
        const body = { to: lines[n % lines.length]?.e164, mode: 'live', speed: 60, script }
        const answer = await ask('/api/sandbox/calls', { method: 'POST', body }).catch(() => null)
        if (answer?.status === 201) {
          acknowledged.push(answer.body.callId)
          return
        }
        if (answer && answer.status !== 503) throw new Error(answer.text)
      }
      throw new Error('A call could not be placed.')
    }
    const wave = () => Promise.all(Array.from({ length: CALLS }, (_, n) => place(n)))

    let counts: readonly number[] = []
    const forwarded = async () => {
      await wave()
      counts = await Promise.all(both.map(forwardedBy))
      return counts.some((count) => count > 0)
    }
    await waitUntil('Commands are forwarded', forwarded, FORWARDED_MS)
    // One forwards, the other owns.
    expect(counts.toSorted((a, b) => a - b)).toEqual([0, expect.toSatisfy((count: number) => count > 0)])
    const [owner, other] = counts[0] === 0 ? both : [both[1], both[0]]

    const before = acknowledged.length
    const last = wave()
    await waitUntil('Some calls of the wave are placed', async () => acknowledged.length > before + 5, READY_MS)
    alive = [other]
    await owner.kill()
    await last
    await wave()

    const log = await openLog(eventLogUrl)
    const { open, violations } = await auditUntilDone(log, tenant.workspaceId, acknowledged, SETTLE_MS)
    await log.close()
    expect(violations).toEqual([])
    expect(open, other.lastOutput()).toEqual([])
    remove()
  })
})
