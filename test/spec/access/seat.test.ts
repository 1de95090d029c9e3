import { describe, expect, it } from 'vitest'
import { changeSeatRole } from '../../../commands/access/change-seat-role.ts'
import { createWorkspace } from '../../../commands/access/create-workspace.ts'
import { grantSeat } from '../../../commands/access/grant-seat.ts'
import { removeSeat } from '../../../commands/access/remove-seat.ts'
import { userIdOf } from '../../../src/domain/access/user.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { given, idOf, WORKSPACE } from '../../support/fixtures/spec.ts'
import { emptyWorkspace } from '../../support/fixtures/workspace-fixture.ts'

// Ada, who gives every command of a specification, is the user of this id.
const ADA = idOf(1)

const held = (userId: string, role: string, name = 'Somebody') => ({
  type: 'SeatGranted',
  data: { userId, email: `${name}@example.com`, name, role, workspaceId: WORKSPACE, workspaceName: 'Acme Media' },
})
/** A workspace in which Ada holds a seat. */
const where = (role: string) => [...emptyWorkspace(), held(ADA, role, 'Ada')]
const bob = { email: 'bob@example.com', name: 'Bob', role: 'admin' }
const bobId = userIdOf(bob.email)
const owners = [...where('owner'), held(bobId, 'owner', 'Bob')]

describe('create-workspace', () => {
  it('seats its first owner at once', () => {
    const sent = { name: 'Acme', timezone: 'UTC', planId: 'growth', owner: { email: bob.email, name: 'Bob' } }
    const { outcome, events } = given(workspace).when(createWorkspace, sent)
    expect(outcome).toMatchObject([
      {
        type: 'WorkspaceCreated',
        data: { workspace: { id: WORKSPACE, sandbox: false, subscriptionStatus: 'active' } },
      },
      { type: 'SeatGranted', data: { userId: bobId, role: 'owner', workspaceId: WORKSPACE, workspaceName: 'Acme' } },
    ])
    given(workspace, events).when(createWorkspace, sent).gives([])
  })
})

describe('grant-seat', () => {
  it('seats a person once, by the address in any case', () => {
    const seated = given(workspace, where('owner')).when(grantSeat, bob)
    seated.gives([{ type: 'SeatGranted', data: { ...bob, userId: bobId, workspaceName: 'Acme Media' } }])
    given(workspace, seated.events)
      .when(grantSeat, { ...bob, email: 'BOB@example.com', role: 'owner' })
      .gives({ refused: 'conflict' })
    given(workspace).when(grantSeat, bob).gives({ refused: 'workspace-not-found' })
  })

  it.each(['admin', 'member'])('is refused for the role %s', (role) => {
    given(workspace, where(role)).when(grantSeat, bob).gives({ refused: 'forbidden' })
    given(workspace, where(role)).when(changeSeatRole, { userId: ADA, role: 'owner' }).gives({ refused: 'forbidden' })
    given(workspace, where(role)).when(removeSeat, { userId: ADA }).gives({ refused: 'forbidden' })
  })

  it('is refused without a seat', () => {
    given(workspace, [...emptyWorkspace(), held(bobId, 'owner')])
      .when(grantSeat, bob)
      .gives({ refused: 'forbidden' })
  })
})

describe('change-seat-role and remove-seat', () => {
  it('change and remove a seat, once', () => {
    const demoted = given(workspace, owners).when(changeSeatRole, { userId: bobId, role: 'member' })
    demoted.gives([{ type: 'SeatRoleChanged', data: { userId: bobId, name: 'Bob', from: 'owner', to: 'member' } }])
    given(workspace, demoted.events).when(changeSeatRole, { userId: bobId, role: 'member' }).gives([])
    const removed = given(workspace, demoted.events).when(removeSeat, { userId: bobId })
    removed.gives([{ type: 'SeatRemoved', data: { userId: bobId, name: 'Bob', role: 'member' } }])
    given(workspace, removed.events).when(removeSeat, { userId: bobId }).gives({ refused: 'user-not-found' })
    given(workspace, removed.events)
      .when(changeSeatRole, { userId: bobId, role: 'owner' })
      .gives({ refused: 'user-not-found' })
  })

  it('refuse to leave a workspace without an owner', () => {
    const alone = [...where('owner'), held(bobId, 'admin', 'Bob')]
    given(workspace, alone).when(removeSeat, { userId: ADA }).gives({ refused: 'conflict' })
    given(workspace, alone).when(changeSeatRole, { userId: ADA, role: 'admin' }).gives({ refused: 'conflict' })
    given(workspace, alone).when(changeSeatRole, { userId: ADA, role: 'owner' }).gives([])
    given(workspace, owners)
      .when(removeSeat, { userId: ADA })
      .gives([{ type: 'SeatRemoved' }])
  })
})
