import { z } from 'zod'
import { defineCommand } from '../../kernel/command.ts'
import { session, sessionEvents } from './session.ts'

const sessionId = z.string()

/** Records a webhook, once for its id. */
export const receiveWebhook = defineCommand({
  name: 'receive-telnyx-webhook',
  entity: session,
  input: z.object({ sessionId, webhook: sessionEvents.TelnyxWebhookTaken }),
  id: (input) => input.sessionId,
  decide: ({ webhook: data }, { webhooks }) =>
    webhooks.includes(data.webhookId) ? [] : [{ type: 'TelnyxWebhookTaken', data }],
})

/** Records in which workspace the dialled number is, and gives the call its id; once for a session. */
export const recognizeCall = defineCommand({
  name: 'recognize-telnyx-call',
  entity: session,
  input: z.object({ sessionId, workspaceId: sessionEvents.TelnyxCallRecognized.shape.workspaceId }),
  id: (input) => input.sessionId,
  decide: (input, { recognized }, { newId }) =>
    recognized ? [] : [{ type: 'TelnyxCallRecognized', data: { ...input, callId: newId() } }],
})

/** Records that the platform wants a target dialled, once for the command's id. */
export const requestDial = defineCommand({
  name: 'request-telnyx-dial',
  entity: session,
  input: z.object({ sessionId, dial: sessionEvents.TelnyxDialAsked }),
  id: (input) => input.sessionId,
  decide: ({ dial: data }, { dials }) =>
    dials.some(({ commandId }) => commandId === data.commandId) ? [] : [{ type: 'TelnyxDialAsked', data }],
})

/** Records that the platform releases the caller, once for the command's id. */
export const requestRelease = defineCommand({
  name: 'request-telnyx-release',
  entity: session,
  input: z.object({ sessionId, release: sessionEvents.TelnyxReleaseAsked }),
  id: (input) => input.sessionId,
  decide: ({ release: data }, { releases }) =>
    releases.some(({ commandId }) => commandId === data.commandId) ? [] : [{ type: 'TelnyxReleaseAsked', data }],
})

/** Records how a step ended, once for the step's name. */
export const completeStep = defineCommand({
  name: 'complete-telnyx-step',
  entity: session,
  input: z.object({ sessionId, step: sessionEvents.TelnyxStepTaken }),
  id: (input) => input.sessionId,
  decide: ({ step: data }, { completed }) => (completed[data.step] ? [] : [{ type: 'TelnyxStepTaken', data }]),
})
