import { z } from 'zod'
import { retryParkedStream } from '../../../commands/activity/retry-parked-stream.ts'
import { skipParkedEvent } from '../../../commands/activity/skip-parked-event.ts'
import { skipNote } from '../../domain/activity/activity.ts'
import { refuseNotFound } from '../../domain/shared/refusals.ts'
import { isRefusal, type Refusal, refuse } from '../../kernel/refusal.ts'
import { id } from '../../kernel/wire.ts'
import { isRequested, listParked, type ParkedAction, requestAction } from '../../runtime/reactions/parked-streams.ts'
import { parkedRow, parkedShape } from '../parked-streams.ts'
import type { WriteContext } from './write-context.ts'
import type { WriteResponse } from './write-progress.ts'
import { defineWriteRoute, type Write } from './write-route.ts'
import type { WriteTools } from './write-tools.ts'

const path = '/api/operator/parked/:id'

type Path = { readonly id: string }

/** The parked stream that a path names; null for none. */
async function parkedOf({ ops, clock }: Pick<WriteTools, 'ops' | 'clock'>, { id: named }: Path) {
  return (await listParked(ops, clock.now())).find((one) => one.id === named) ?? null
}

const byId = {
  method: 'POST',
  params: z.object({ id }),
  missingParam: async (tools: WriteTools, params: Path) => ((await parkedOf(tools, params)) ? null : 'id'),
  responses: { 202: z.object({ parked: parkedShape }) },
  rejects: ['parked-stream-not-found', 'conflict'],
} as const

/** What the activity log of the stream's workspace says. */
type Logged = Parameters<typeof retryParkedStream.decide>[0]

/** Logs an action on a parked stream, and then asks the worker that has the stream for it. */
async function act(
  { params, tools, setTenant }: WriteContext<Path>,
  action: ParkedAction,
  log: (parked: Logged) => Promise<Refusal | object>,
): Promise<WriteResponse | Refusal> {
  const { ops, clock } = tools
  const found = await parkedOf(tools, params)
  if (!found) return refuseNotFound('parked-stream')
  if (await isRequested(ops, found, clock.now()))
    return refuse('conflict', null, 'An operator has asked for this already, and it is under way.')
  const { id: parkedId, reaction, type, workspaceId } = found
  // The events that reactions handle belong to workspaces: an event of none has no log.
  if (workspaceId !== null) {
    setTenant({ workspaceId, timezone: 'UTC' })
    const logged = await log({ parkedId, reaction, type })
    if (isRefusal(logged)) return logged
  }
  await requestAction(ops, found, action, clock.now())
  return { status: 202, body: { parked: parkedRow(found) } }
}

const retry = defineWriteRoute({
  ...byId,
  name: 'retry-parked-stream',
  summary: 'Resume a parked stream with the event that failed',
  mounts: [{ surface: 'operator', path: `${path}/retry` }],
  run: (context) => act(context, 'retry', (parked) => context.execute(retryParkedStream, parked)),
})

const skip = defineWriteRoute({
  ...byId,
  name: 'skip-parked-event',
  summary: 'Pass over the event that failed, and resume its stream',
  mounts: [{ surface: 'operator', path: `${path}/skip` }],
  body: z.object({ note: skipNote }),
  run: (context) => act(context, 'skip', (parked) => context.execute(skipParkedEvent, { ...parked, ...context.body })),
})

/** The operator's acts on parked streams (Supplement §2, "Operator"). */
export const parkedStreamWrites: readonly Write[] = [retry, skip]
