import parse from 'parse-prometheus-text-format'
import { expect } from 'vitest'
import { projections } from '../../../src/main/registry.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { waitUntil } from '../../support/e2e/server.ts'
import { suite } from '../../support/e2e/suite.ts'
import { answerScript } from '../../support/e2e/tenant-client.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'
import { ownMetrics } from '../../support/metrics/own-metrics.ts'

const DESK = '+13125550001'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const desk = await main.target(await main.buyer({ name: 'Acme' }), { endpoint: { destinationE164: DESK } })
  return { main, line: await main.line({ name: 'Open' }, [desk]) }
}

const { it, main, the, server } = suite('metrics', world, { env: { LOG_LEVEL: 'info' } })

/** A scrape, parsed; `counted`: the number of observations of a histogram under its labels as they stand in the text. */
async function scrape() {
  const response = await fetch(`${server.baseUrl}/metrics`)
  expect(response.status).toBe(200)
  const text = await response.text()
  const families = new Map(parse(text).map((family) => [family.name, family]))
  return {
    families,
    valuesOf: (name: string): Readonly<Record<string, number>> =>
      Object.fromEntries(
        (families.get(name)?.metrics ?? []).map(({ labels = {}, value }) => [
          Object.values(labels).join(' '),
          Number(value),
        ]),
      ),
    counted: (name: string, labels: string) =>
      Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`${name}_count{${labels}} `))
          ?.split(' ')
          .at(-1) ?? 0,
      ),
  }
}

it('every metric of the platform is scraped with its type', async () => {
  const { families } = await scrape()
  const types = ownMetrics().map(({ name }) => [name, families.get(name)?.type.toLowerCase()])
  expect(types).toEqual(ownMetrics().map(({ name, type }) => [name, type]))
})

it('a call shows in what is appended, committed and asked', async () => {
  const before = await scrape()
  const { call } = await main.playCall({ to: the.line.e164, script: { [DESK]: answerScript(12) } })
  expect(call.id).toEqual(expect.any(String))
  const after = await scrape()
  const grew = (count: (scraped: typeof before) => number) => count(after) - count(before)
  expect(grew(({ counted }) => counted('event_log_append_duration_seconds', 'outcome="appended"'))).toBeGreaterThan(0)
  expect(grew(({ valuesOf }) => valuesOf('event_log_appended_events_total')[''] ?? 0)).toBeGreaterThan(3)
  expect(grew(({ counted }) => counted('read_store_commit_duration_seconds', 'outcome="committed"'))).toBeGreaterThan(0)
  expect(grew(({ valuesOf }) => valuesOf('read_store_written_documents_total')[''] ?? 0)).toBeGreaterThan(0)
  const asked = 'method="POST",route="/api/sandbox/calls",status="201"'
  expect(grew(({ counted }) => counted('http_request_duration_seconds', asked))).toBe(1)
})

it('a scrape tells the state of projections, reactions, timers, threads and the process', async () => {
  const scraped = await waitUntil('The process is ready and every reaction has begun', async () => {
    const now = await scrape()
    const isReady = now.valuesOf('readiness_ok')[''] === 1
    return isReady && Object.keys(now.valuesOf('reaction_lag_seconds')).length === 6 && now
  })
  const { valuesOf } = scraped
  expect(valuesOf('readiness_problems')).toEqual({ '': 0 })
  const names = projections.map(({ name }) => name).toSorted()
  for (const name of ['projection_lag_seconds', 'projection_unowned_seconds'])
    expect(Object.keys(valuesOf(name)).toSorted(), name).toEqual(names)
  // Another platform over the same stores may have some of the lanes.
  const lanesOf = (name: string) =>
    Object.keys(valuesOf(name)).map((lane) => lane.replace(/ (running|standby|owner|contending)$/, ''))
  expect(lanesOf('projection_lanes').toSorted()).toEqual(names)
  expect(lanesOf('reaction_lanes')).toEqual(expect.arrayContaining(['call-flow', 'renewals']))
  expect(valuesOf('reaction_waiting_events')).toHaveProperty('call-flow')
  expect(valuesOf('reaction_parked_streams')).toMatchObject({ renewals: 0 })
  for (const name of ['timers_due', 'timers_waiting', 'timer_overdue_seconds'])
    expect(Object.keys(valuesOf(name)), name).toEqual(expect.arrayContaining(['usage', 'lease_end']))
  const { projections: folded = 0, work = 0 } = valuesOf('lane_leases_held')
  expect(folded).toBeGreaterThan(0)
  expect(work).toBeGreaterThan(0)
  for (const name of ['thread_event_loop_lag_p99_seconds', 'thread_event_loop_lag_max_seconds'])
    expect(Object.keys(valuesOf(name)).toSorted(), name).toEqual(['projector', 'query'])
  expect(valuesOf('mailbox_waiting_commands')).toEqual({ '': expect.any(Number) })
  expect(valuesOf('snapshots_failing')).toEqual({ '': 0 })
  const failures = valuesOf('scrape_reading_failures_total')
  expect(failures).toHaveProperty('timers')
  expect(Object.values(failures).filter((count) => count > 0)).toEqual([])
})

it('probes and scrapes write no line of the log and are no requests', async () => {
  for (const path of ['/healthz', '/readyz', '/metrics'])
    expect((await fetch(`${server.baseUrl}${path}`)).ok).toBe(true)
  await main.rest('/api/v1/campaigns?pageSize=1')
  const lines = await waitUntil('The request is logged', async () => {
    const requests = server
      .stdout()
      .split('\n')
      .filter((line) => line.includes('"msg":"request"'))
    return requests.some((line) => line.includes('"/api/v1/campaigns"')) && requests
  })
  const probed = /"route":"\/(healthz|readyz|metrics)"/
  expect(lines.filter((line) => probed.test(line))).toEqual([])
  const { counted } = await scrape()
  for (const route of ['/healthz', '/readyz', '/metrics'])
    expect(counted('http_request_duration_seconds', `method="GET",route="${route}",status="200"`)).toBe(0)
})
