import { describe, expect, it } from 'vitest'
import { acceptInvitation } from '../../../commands/access/accept-invitation.ts'
import { invitePerson } from '../../../commands/access/invite-person.ts'
import { revokeInvitation } from '../../../commands/access/revoke-invitation.ts'
import { userIdOf } from '../../../src/domain/access/user.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { INVITATION } from '../../../src/domain/shared/limits.ts'
import type { Actor, NewEvent } from '../../../src/kernel/event.ts'
import { given, NOW, stateOf } from '../../support/fixtures/spec.ts'
import { emptyWorkspace, hashOf } from '../../support/fixtures/workspace-fixture.ts'

const ada = { email: 'ada@example.com', name: 'Ada', role: 'admin', tokenHash: hashOf('token') } as const
const OPERATOR: Actor = { type: 'operator', id: null, name: 'Operator' }
const empty = emptyWorkspace()
const invited = (person: object = {}, events: readonly NewEvent[] = empty) =>
  given(workspace, events).when(invitePerson, { ...ada, ...person }, { actor: OPERATOR, firstId: events.length })
const openIn = (events: readonly NewEvent[]) => [...stateOf(workspace, events).invitations.values()]

describe('invite-person', () => {
  it('replaces the open invitation of the address in any case', () => {
    const first = invited()
    const second = invited({ email: 'ADA@example.com', tokenHash: hashOf('second') }, first.events)
    second.gives([{ type: 'InvitationRevoked' }, { type: 'PersonInvited' }])
    expect(openIn(second.events).map(({ tokenHash }) => tokenHash)).toEqual([hashOf('second')])
  })

  it('takes as many open invitations as a workspace may have', () => {
    let events: readonly NewEvent[] = empty
    for (let n = 0; n < INVITATION.max; n += 1) ({ events } = invited({ email: `${n}@example.com` }, events))
    invited({ email: 'one-more@example.com' }, events).gives({ refused: 'conflict' })
    invited({ email: '0@example.com' }, events).gives([{ type: 'InvitationRevoked' }, { type: 'PersonInvited' }])
  })
})

describe('accept-invitation', () => {
  const { events } = invited()
  const [{ id: invitationId = '' } = {}] = openIn(events)
  const accept = (change: object = {}, over = events, at = NOW) =>
    given(workspace, over).when(
      acceptInvitation,
      {
        invitationId,
        tokenHash: ada.tokenHash,
        person: { email: ada.email, name: 'Ada Lovelace' },
        ...change,
      },
      { at },
    )

  it('grants the seat to the account, under its own name, once', () => {
    const accepted = accept()
    accepted.gives([
      { type: 'InvitationAccepted' },
      { type: 'SeatGranted', data: { userId: userIdOf(ada.email), name: 'Ada Lovelace', role: 'admin' } },
    ])
    accept({}, accepted.events).gives({ refused: 'invitation-not-found' })
  })

  it('is refused from the end of the seventh day on', () => {
    const after = (ms: number) => new Date(Date.parse(NOW) + INVITATION.days * 24 * 3_600_000 + ms).toISOString()
    accept({}, events, after(0)).gives({ refused: 'invitation-not-found' })
    accept({}, events, after(-1)).gives([{ type: 'InvitationAccepted' }, { type: 'SeatGranted' }])
  })

  it('refuses another account, another token and a revoked invitation', () => {
    accept({ person: { email: 'eve@example.com', name: 'Eve' } }).gives({ refused: 'invitation-not-found' })
    accept({ tokenHash: hashOf('other') }).gives({ refused: 'invitation-not-found' })
    const revoked = given(workspace, events).when(revokeInvitation, { invitationId }, { actor: OPERATOR })
    revoked.gives([{ type: 'InvitationRevoked' }])
    accept({}, revoked.events).gives({ refused: 'invitation-not-found' })
  })
})
