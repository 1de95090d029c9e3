import { describe, expect, it } from 'vitest'
import { createWorkspace } from '../../../commands/access/create-workspace.ts'
import { chargeUsage } from '../../../commands/money/charge-usage.ts'
import { creditSandboxWallet } from '../../../commands/money/credit-sandbox-wallet.ts'
import { creditWallet } from '../../../commands/money/credit-wallet.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { usageReference, wallet } from '../../../src/domain/money/wallet.ts'
import { setupReference } from '../../../src/domain/supply/number-order.ts'
import { renewalReference } from '../../../src/domain/supply/renewal.ts'
import { entriesOf } from '../../../src/kernel/windowed-map.ts'
import { emptyFold, foldEvents } from '../../../src/runtime/write/fold.ts'
import { given, idOf, NOW, recordedEvents, stateOf } from '../../support/fixtures/spec.ts'

const credit = { amountCents: 1_000, reference: 'first' }
const usage = { callId: idOf(3), amountCents: 1_200, at: NOW }
const funded = given(wallet).when(creditWallet, credit)

describe('credit-wallet', () => {
  it('adds to the balance', () => {
    funded.gives([{ type: 'WalletCredited', data: { amountCents: 1_000, balanceCents: 1_000, kind: 'credit' } }])
    expect(funded.state.balanceCents).toBe(1_000)
  })

  it('credits a reference once, and refuses it for another amount', () => {
    given(wallet, funded.events).when(creditWallet, credit).gives([])
    given(wallet, funded.events)
      .when(creditWallet, { ...credit, amountCents: 1 })
      .gives({ refused: 'conflict' })
  })

  it('accepts 1 to 10,000,000 cents', () => {
    const accepts = (amountCents: number) => creditWallet.input.safeParse({ ...credit, amountCents }).success
    expect([0, 1, 10_000_000, 10_000_001, 1.5].map(accepts)).toEqual([false, true, true, false, false])
  })

  it('refuses a reference with a prefix reserved for the platform', () => {
    const accepts = (reference: string) => creditWallet.input.safeParse({ ...credit, reference }).success
    const own = [setupReference(idOf(1)), renewalReference(idOf(2), NOW), usageReference(idOf(3))]
    expect(own.filter(accepts)).toEqual([])
    expect(['usage', 'usages:1', 'my usage:1'].filter(accepts)).toHaveLength(3)
  })
})

describe('credit-sandbox-wallet', () => {
  const of = (sandbox: boolean) => {
    const created = { name: 'Acme', timezone: 'UTC', planId: 'scale', sandbox }
    return { reads: { workspace: given(workspace).when(createWorkspace, created).state } }
  }

  it('credits the wallet of a sandbox workspace by the same rules', () => {
    const first = given(wallet).when(creditSandboxWallet, credit, of(true))
    first.gives([{ type: 'WalletCredited', data: { amountCents: 1_000, balanceCents: 1_000 } }])
    given(wallet, first.events).when(creditSandboxWallet, credit, of(true)).gives([])
    given(wallet, first.events)
      .when(creditSandboxWallet, { ...credit, amountCents: 2 }, of(true))
      .gives({ refused: 'conflict', details: { reference: 'first' } })
  })

  it('refuses any other workspace', () => {
    given(wallet).when(creditSandboxWallet, credit, of(false)).gives({ refused: 'sandbox-only' })
    given(wallet).when(creditSandboxWallet, credit).gives({ refused: 'sandbox-only' })
  })
})

describe('charge-usage', () => {
  it('may take the balance below zero, once for each call', () => {
    const charged = given(wallet, funded.events).when(chargeUsage, usage)
    charged.gives([{ type: 'WalletCharged', data: { reference: usageReference(usage.callId), balanceCents: -200 } }])
    given(wallet, charged.events).when(chargeUsage, usage).gives([])
  })

  it('writes no event for an amount of zero', () => {
    given(wallet, funded.events)
      .when(chargeUsage, { ...usage, amountCents: 0 })
      .gives([])
  })
})

describe('the wallet’s fold', () => {
  it('remembers every reference for at least an hour, and few for longer', () => {
    const minutes = (n: number) => new Date(Date.parse(NOW) + n * 60_000).toISOString()
    const charges = Array.from({ length: 240 }, (_, n) => ({
      at: minutes(n),
      event: {
        type: 'WalletCharged',
        data: {
          reference: `r${n}`,
          kind: 'usage',
          amountCents: 1,
          balanceCents: -n - 1,
          note: null,
          callId: null,
          occurredAt: NOW,
        },
      },
    }))
    const events = charges.flatMap(({ at, event }, from) => recordedEvents(wallet, [event], { from, at }))
    const { state } = foldEvents(wallet, emptyFold(wallet), events)
    const known = new Set(entriesOf(state.references).keys())
    for (let n = 180; n < 240; n += 1) expect(known).toContain(`r${n}`)
    expect(known.size).toBeLessThanOrEqual(120)
    expect(state.balanceCents).toBe(-240)
  })

  it('is empty at first', () => {
    expect(stateOf(wallet, [])).toMatchObject({ balanceCents: 0, workspaceId: null })
  })
})
