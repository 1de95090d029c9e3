import { describe, expect, it } from 'vitest'
import { provisionNumber } from '../../../commands/supply/provision-number.ts'
import { listNumbers } from '../../../queries/supply/list-numbers.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { ask, call, events, ids } from '../../support/fixtures/configuration-views.ts'
import { given } from '../../support/fixtures/spec.ts'

describe('queries of numbers', () => {
  it('show attribution and activity', async () => {
    const on = { numberId: ids.number }
    const calls = {
      a: call('2026-03-09T12:00:00.000Z', on),
      b: call('2026-03-10T12:00:00.000Z', on),
      c: call('2026-01-01T12:00:00.000Z', on),
    }
    const [number] = (await ask(listNumbers, events, {}, { calls })).data
    expect(number).toMatchObject({
      e164: '+14155550123',
      campaign: { id: ids.campaign, name: 'Solar West', status: 'draft' },
      publisher: { id: ids.publisher, name: 'Blue Leads' },
      pool: null,
      calls30d: 2,
      lastCallAt: '2026-03-10T12:00:00.000Z',
    })
    expect(number).not.toHaveProperty('renewsAt')
  })

  it('find numbers by digits, label or assignment', async () => {
    const spare = { e164: '+13105550177', type: 'local', label: 'Truck 7', renewsAt: '2026-04-01T00:00:00.000Z' }
    const two = given(workspace, events).when(provisionNumber, spare, { firstId: 800 }).events
    const found = async (query: object) =>
      (await ask(listNumbers, two, { query })).data.map(({ e164 }: { e164: string }) => e164)
    expect(await found({ q: '(310) 555' })).toEqual([spare.e164])
    expect(await found({ q: 'truck' })).toEqual([spare.e164])
    expect(await found({ assigned: 'false' })).toEqual([spare.e164])
    expect(await found({ assigned: 'true' })).toEqual(['+14155550123'])
    expect(await found({ assigned: 'false', campaignId: ids.campaign })).toEqual(['+14155550123'])
    expect(await found({ status: 'released' })).toEqual([])
  })
})
