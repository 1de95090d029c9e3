import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { startExport } from '../../../commands/activity/start-export.ts'
import { user } from '../../../src/domain/access/user.ts'
import { activity } from '../../../src/domain/activity/activity.ts'
import { changesBetween, HIDDEN } from '../../../src/domain/activity/activity-changes.ts'
import { activityEntryOf, loggedEvents, workspaceOf } from '../../../src/domain/activity/activity-log.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { wallet } from '../../../src/domain/money/wallet.ts'
import { blocklist } from '../../../src/domain/routing/blocklist.ts'
import type { AnyEntity } from '../../../src/kernel/entity.ts'
import type { NewEvent } from '../../../src/kernel/event.ts'
import { arbitraryOf, createPool } from '../../support/fixtures/arbitrary.ts'
import { given, idOf, NOW, recordedEvents, WORKSPACE } from '../../support/fixtures/spec.ts'

const received = (entity: AnyEntity, type: string, data: unknown) => {
  const [event] = recordedEvents(entity, [{ type, data }])
  return event ? activityEntryOf(event) : null
}
const inLog = (entity: AnyEntity, event: NewEvent) => recordedEvents(entity, [event]).map(workspaceOf)

/** Names of secret fields. */
const SECRET = /secret|password|token|hash|seal|signing$|headers|template|^compat$|^ended$/i
const CANARY = 'canary-in-the-log'

/** The value with a recognizable text in every secret field, at any depth. */
function poisoned(value: unknown, secret = false): unknown {
  if (typeof value === 'string') return secret ? CANARY : value
  if (Array.isArray(value)) return value.map((item) => poisoned(item, secret))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, poisoned(inner, secret || SECRET.test(name))]),
  )
}

describe('an entry of the activity log', () => {
  test('names actor, action and IP address, with every field before and after', () => {
    const entry = received(workspace, 'BuyerChanged', {
      buyerId: idOf(9),
      name: 'Solar Co',
      before: { dailyCap: 5, notes: null },
      after: { dailyCap: 9, notes: 'Call Ann.' },
    })
    expect(entry).toEqual({
      id: idOf(0xe000),
      at: NOW,
      actor: { type: 'user', id: idOf(1), name: 'Ada' },
      kind: 'buyer',
      action: 'changed',
      severity: 'medium',
      entity: { kind: 'buyer', id: idOf(9), name: 'Solar Co' },
      summary: 'Buyer Solar Co was changed: dailyCap, notes.',
      changes: [
        { field: 'dailyCap', before: 5, after: 9 },
        { field: 'notes', before: null, after: 'Call Ann.' },
      ],
      ip: null,
      requestId: 'spec',
      position: 0,
    })
  })

  test('keeps the note of a status change, with high severity for final statuses', () => {
    const moved = (to: string, note: string | null) =>
      received(workspace, 'BuyerStatusChanged', {
        buyerId: idOf(9),
        name: 'Solar Co',
        from: 'active',
        to,
        note,
        targetsAffected: 2,
      })
    expect(moved('paused', 'Winter')).toMatchObject({
      action: 'status_changed',
      severity: 'medium',
      summary: 'Buyer Solar Co went from active to paused: Winter',
      changes: [
        { field: 'status', before: 'active', after: 'paused' },
        { field: 'targetsAffected', before: null, after: 2 },
        { field: 'note', before: null, after: 'Winter' },
      ],
    })
    expect(moved('archived', null)).toMatchObject({
      severity: 'high',
      summary: 'Buyer Solar Co went from active to archived.',
    })
  })

  test('logs wallet entries, except for the usage of calls', () => {
    const charge = { reference: 'r-1', amountCents: 250, balanceCents: 750, note: null, callId: null, occurredAt: NOW }
    expect(received(wallet, 'WalletCharged', { ...charge, kind: 'renewal' })).toMatchObject({
      kind: 'wallet',
      action: 'charged',
      entity: { id: 'r-1' },
      summary: 'Wallet entry r-1 charged a renewal of $2.50.',
      changes: expect.arrayContaining([{ field: 'balanceCents', before: 1_000, after: 750 }]),
    })
    expect(received(wallet, 'WalletCredited', { ...charge, kind: 'credit', note: 'By card' })).toMatchObject({
      action: 'credited',
      summary: 'Wallet entry r-1 credited $2.50: By card',
      changes: expect.arrayContaining([{ field: 'balanceCents', before: 500, after: 750 }]),
    })
    expect(received(wallet, 'WalletCharged', { ...charge, kind: 'usage' })).toBeNull()
    expect(inLog(wallet, { type: 'WalletCharged', data: { ...charge, kind: 'usage' } })).toEqual([null])
    expect(inLog(wallet, { type: 'WalletCharged', data: { ...charge, kind: 'setup' } })).toEqual([WORKSPACE])
  })

  test('is in the log of the workspace that its stream belongs to; a user’s stream is in none', () => {
    const seat = {
      userId: idOf(1),
      email: 'a@b.example',
      name: 'Ann',
      role: 'owner',
      workspaceId: WORKSPACE,
      workspaceName: 'Acme',
    }
    expect(inLog(workspace, { type: 'SeatGranted', data: seat })).toEqual([WORKSPACE])
    expect(inLog(user, { type: 'SeatGranted', data: seat })).toEqual([null])
    const unblocked = { blockId: idOf(2), callerLast10: '2125550100', campaignId: null }
    expect(inLog(blocklist, { type: 'CallerUnblocked', data: unblocked })).toEqual([WORKSPACE])
  })

  test('replaces lone surrogates, which stores do not preserve', () => {
    const entry = received(workspace, 'BuyerChanged', {
      buyerId: idOf(9),
      name: 'So\ud800lar',
      before: { notes: '\udc00' },
      after: { notes: null },
    })
    expect(entry).toMatchObject({ entity: { name: 'So\ufffdlar' }, changes: [{ before: '\ufffd' }] })
    expect(JSON.stringify(entry).isWellFormed()).toBe(true)
  })
})

describe('changesBetween', () => {
  test('lists nested settings one by one, and secrets only as changed', () => {
    const before = {
      endpoint: { sipUri: null, sipSecret: null },
      rtb: { bidHeaders: { 'x-key': 'old' }, bidPath: '$.bid' },
    }
    const after = {
      endpoint: { sipUri: 'sip:a@b.example', sipSecret: { sealed: 'sealed', last4: '1234' } },
      rtb: { bidHeaders: { 'x-key': 'new' }, bidPath: '$.bid' },
    }
    expect(changesBetween(before, after)).toEqual([
      { field: 'endpoint.sipUri', before: null, after: 'sip:a@b.example' },
      { field: 'endpoint.sipSecret', before: null, after: HIDDEN },
      { field: 'rtb.bidHeaders', before: HIDDEN, after: HIDDEN },
    ])
  })

  test('hides user information and query values of a URL', () => {
    const rtb = (bidUrl: string) => ({ rtb: { bidUrl, confirmUrl: null } })
    const after = rtb('https://me:word@bids.example/ask?zip={{zip}}&api_key=k3y#part')
    expect(changesBetween(rtb('https://bids.example/ask'), after)).toEqual([
      {
        field: 'rtb.bidUrl',
        before: 'https://bids.example/ask',
        after: `https://${HIDDEN}@bids.example/ask?zip=${HIDDEN}&api_key=${HIDDEN}#part`,
      },
    ])
  })

  test('reads own properties only, whatever their names', () => {
    const filters = Object.fromEntries([
      ['constructor', 'a'],
      ['__proto__', 'b'],
    ])
    expect(changesBetween(null, { filters })).toEqual([
      { field: 'filters.constructor', before: null, after: 'a' },
      { field: 'filters.__proto__', before: null, after: 'b' },
    ])
  })

  test('returns nothing for equal records', () => {
    expect(changesBetween({ name: 'A', states: ['NY'] }, { states: ['NY'], name: 'A' })).toEqual([])
    expect(changesBetween(null, null)).toEqual([])
  })
})

describe('an entry has no secret', () => {
  const types = Object.keys(loggedEvents)
  const schemaOf = (type: string) => Object.entries(loggedEvents).find(([name]) => name === type)?.[1] ?? z.never()

  test.each(types)('of the event %s', (type) => {
    fc.assert(
      fc.property(arbitraryOf(schemaOf(type), createPool(), type), (data) => {
        const entry = received(workspace, type, poisoned(data))
        expect(JSON.stringify(entry)).not.toContain(CANARY)
      }),
      { numRuns: 25 },
    )
  })

  test('though the events contain secrets', () => {
    const found = types.filter((type) => {
      const samples = fc.sample(arbitraryOf(schemaOf(type), createPool(), type), { numRuns: 50, seed: 1 })
      return samples.some((data) => JSON.stringify(poisoned(data)).includes(CANARY))
    })
    expect(found).toEqual(expect.arrayContaining(['ApiKeyCreated', 'TargetCreated', 'LaneOpened', 'CompatEnabled']))
  })
})

describe('start-export', () => {
  test('records the query of each export', () => {
    const requests = { kind: 'activity', filters: { kind: 'buyer' }, rows: 10_000 }
    given(activity)
      .when(startExport, requests)
      .gives([{ type: 'ExportStarted', data: requests }])
    expect(received(activity, 'ExportStarted', requests)).toMatchObject({
      kind: 'export',
      action: 'exported',
      summary: 'Export of the activity log was started.',
      changes: [
        { field: 'filters.kind', before: null, after: 'buyer' },
        { field: 'rows', before: null, after: 10_000 },
      ],
    })
  })
})
