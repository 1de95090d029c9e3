import { isDeepStrictEqual } from 'node:util'
import { missing } from '../src/domain/refusals.ts'
import { seat, user } from '../src/domain/user.ts'
import { defineCommand } from '../src/kernel/command.ts'
import { id } from '../src/kernel/wire.ts'

/** Gives a user a seat in a workspace, or another role in one that they hold. */
export const grantSeat = defineCommand({
  name: 'grant-seat',
  entity: user,
  input: seat.extend({ userId: id }),
  id: ({ userId }) => userId,
  rejects: ['user-not-found'],
  decide({ userId, ...seat }, { user, seats }) {
    if (!user) return missing('user')
    return isDeepStrictEqual(seats.get(seat.workspaceId), seat)
      ? []
      : [{ type: 'SeatGranted', data: { userId, ...seat } }]
  },
})
