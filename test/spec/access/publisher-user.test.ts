import { describe, expect, it } from 'vitest'
import { acceptPublisherInvitation } from '../../../commands/access/accept-publisher-invitation.ts'
import { invitePublisherUser } from '../../../commands/access/invite-publisher-user.ts'
import { removePublisherUser } from '../../../commands/access/remove-publisher-user.ts'
import { revokePublisherInvitation } from '../../../commands/access/revoke-publisher-invitation.ts'
import { createPublisher } from '../../../commands/supply/create-publisher.ts'
import { userIdOf } from '../../../src/domain/access/user.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { INVITATION, PUBLISHER_USERS } from '../../../src/domain/shared/limits.ts'
import type { Actor, NewEvent } from '../../../src/kernel/event.ts'
import { given, mintedId, NOW, stateOf } from '../../support/fixtures/spec.ts'
import { emptyWorkspace, hashOf } from '../../support/fixtures/workspace-fixture.ts'

const OPERATOR: Actor = { type: 'operator', id: null, name: 'Operator' }
const STRANGER: Actor = { type: 'user', id: userIdOf('stranger@example.com'), name: 'Stranger' }

const withPublisher = (events: readonly NewEvent[], name: string) =>
  given(workspace, events).when(createPublisher, { name }, { firstId: events.length }).events
const two = withPublisher(withPublisher(emptyWorkspace(), 'Blue Leads'), 'Red Leads')
const [blue = '', red = ''] = [...stateOf(workspace, two).publishers.keys()]

const grace = { email: 'grace@example.com', name: 'Grace', tokenHash: hashOf('token') }
const invited = (change: object = {}, events: readonly NewEvent[] = two, actor = OPERATOR) =>
  given(workspace, events).when(
    invitePublisherUser,
    { publisherId: blue, ...grace, ...change },
    { actor, firstId: events.length },
  )
const openIn = (events: readonly NewEvent[]) => [...stateOf(workspace, events).publisherInvitations.values()]
const acceptLast = (events: readonly NewEvent[], change: object = {}, at = NOW) => {
  const { id: invitationId, tokenHash, email, name } = openIn(events).at(-1) ?? { ...grace, id: mintedId(0) }
  const input = { invitationId, tokenHash, person: { email, name }, ...change }
  return given(workspace, events).when(acceptPublisherInvitation, input, { at })
}

describe('invite-publisher-user', () => {
  it('replaces the open invitation of the address to that publisher, and of no other', () => {
    const both = invited({ publisherId: red }, invited().events).events
    const again = invited({ email: 'GRACE@example.com', tokenHash: hashOf('second') }, both)
    again.gives([{ type: 'PublisherInvitationRevoked' }, { type: 'PublisherUserInvited' }])
    expect(openIn(again.events).map(({ publisherId }) => publisherId)).toEqual([red, blue])
  })

  it('takes as many users and open invitations as a publisher may have', () => {
    let { events } = acceptLast(invited({ email: 'user@example.com' }).events)
    for (let n = 1; n < PUBLISHER_USERS.max; n += 1) ({ events } = invited({ email: `${n}@example.com` }, events))
    invited({ email: 'one-more@example.com' }, events).gives({ refused: 'conflict' })
    invited({ email: '1@example.com' }, events).gives([
      { type: 'PublisherInvitationRevoked' },
      { type: 'PublisherUserInvited' },
    ])
    invited({ email: 'one-more@example.com', publisherId: red }, events).gives([{ type: 'PublisherUserInvited' }])
  })

  it('refuses a user of the publisher, an unknown publisher, and who is no owner', () => {
    const { events } = acceptLast(invited().events)
    invited({ email: 'Grace@Example.com' }, events).gives({ refused: 'conflict' })
    invited({ publisherId: red }, events).gives([{ type: 'PublisherUserInvited' }])
    invited({ publisherId: userIdOf('nobody') }).gives({ refused: 'publisher-not-found' })
    invited({}, two, STRANGER).gives({ refused: 'forbidden' })
  })
})

describe('accept-publisher-invitation', () => {
  const { events } = invited()

  it('makes the account a user of the publisher, under its own name, once', () => {
    const accepted = acceptLast(events, { person: { email: grace.email, name: 'Grace Hopper' } })
    accepted.gives([
      { type: 'PublisherInvitationAccepted', data: { publisher: { id: blue, name: 'Blue Leads' } } },
      { type: 'PublisherUserAdded', data: { userId: userIdOf(grace.email), name: 'Grace Hopper' } },
    ])
    acceptLast(accepted.events).gives({ refused: 'invitation-not-found' })
    expect(stateOf(workspace, accepted.events).seats.has(userIdOf(grace.email))).toBe(false)
  })

  it('is refused from the end of the seventh day on', () => {
    const after = (ms: number) => new Date(Date.parse(NOW) + INVITATION.days * 24 * 3_600_000 + ms).toISOString()
    acceptLast(events, {}, after(0)).gives({ refused: 'invitation-not-found' })
    acceptLast(events, {}, after(-1)).gives([{ type: 'PublisherInvitationAccepted' }, { type: 'PublisherUserAdded' }])
  })

  it('refuses another account and another token', () => {
    const eve = { email: 'eve@example.com', name: 'Eve' }
    acceptLast(events, { person: eve }).gives({ refused: 'invitation-not-found' })
    acceptLast(events, { tokenHash: hashOf('other') }).gives({ refused: 'invitation-not-found' })
  })
})

describe('revoke-publisher-invitation', () => {
  const { events } = invited()
  const [{ id: invitationId = '' } = {}] = openIn(events)
  const revoke = (publisherId: string, actor = OPERATOR) =>
    given(workspace, events).when(revokePublisherInvitation, { publisherId, invitationId }, { actor })

  it('ends the invitation, under its own publisher alone', () => {
    revoke(red).gives({ refused: 'invitation-not-found' })
    revoke(blue, STRANGER).gives({ refused: 'forbidden' })
    const revoked = revoke(blue)
    revoked.gives([{ type: 'PublisherInvitationRevoked' }])
    acceptLast(revoked.events).gives({ refused: 'invitation-not-found' })
  })
})

describe('remove-publisher-user', () => {
  const { events } = acceptLast(invited().events)
  const remove = (publisherId: string, actor = OPERATOR) =>
    given(workspace, events).when(removePublisherUser, { publisherId, userId: userIdOf(grace.email) }, { actor })

  it('removes the user of that publisher, by an owner alone', () => {
    remove(red).gives({ refused: 'user-not-found' })
    remove(blue, STRANGER).gives({ refused: 'forbidden' })
    const removed = remove(blue)
    removed.gives([{ type: 'PublisherUserRemoved', data: { publisher: { id: blue, name: 'Blue Leads' } } }])
    expect(stateOf(workspace, removed.events).publisherUsers.size).toBe(0)
  })
})
