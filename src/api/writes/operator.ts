import { z } from 'zod'
import { changeWorkspace } from '../../../commands/access/change-workspace.ts'
import { createPlatformKey } from '../../../commands/access/create-platform-key.ts'
import { createWorkspace } from '../../../commands/access/create-workspace.ts'
import { openWorkspace } from '../../../commands/access/open-workspace.ts'
import { creditWallet } from '../../../commands/money/credit-wallet.ts'
import { workspaces } from '../../../projections/access/workspaces.ts'
import { apiKeyShape } from '../../../queries/access/api-key-shape.ts'
import { getUser } from '../../../queries/access/get-user.ts'
import { getWorkspace } from '../../../queries/access/get-workspace.ts'
import { userShape } from '../../../queries/access/user-shape.ts'
import { workspaceShape } from '../../../queries/access/workspace-shape.ts'
import { getWalletEntry } from '../../../queries/money/get-wallet-entry.ts'
import { newApiKey } from '../../domain/access/api-key.ts'
import { newWorkspace, workspaceRecord } from '../../domain/access/tenant.ts'
import { newPerson, userIdOf } from '../../domain/access/user.ts'
import { creditInput } from '../../domain/money/wallet-credit.ts'
import { refuseNotFound } from '../../domain/shared/refusals.ts'
import { isRefusal, refuse } from '../../kernel/refusal.ts'
import { id } from '../../kernel/wire.ts'
import { rebuildShape } from '../projection-status.ts'
import { issueSecret, storedSecret } from '../secret-issuer.ts'
import { defineWrite, type Write } from './define-write.ts'
import { registerPerson } from './users.ts'

const path = '/api/operator/workspaces'
const one = { params: z.object({ id }), tenantFrom: workspaces }

const create = defineWrite({
  name: 'create-workspace',
  summary: 'Make a workspace with its owner',
  method: 'POST',
  mounts: [{ surface: 'operator', path }],
  body: newWorkspace.extend({ owner: newPerson }),
  responses: { 201: z.object({ workspace: workspaceShape, owner: userShape }) },
  rejects: [...new Set([...openWorkspace.rejects, ...createWorkspace.rejects])],
  async run(writing) {
    const { body, act, ask, setTenant } = writing
    const { owner, ...settings } = body
    const { name, timezone } = settings
    const opened = await act(openWorkspace, { name, timezone })
    if (isRefusal(opened)) return opened
    setTenant({ workspaceId: opened.first('WorkspaceOpened')?.workspaceId ?? '', timezone })
    const person = await registerPerson(writing, owner)
    const created = await act(createWorkspace, { ...settings, owner: person })
    if (isRefusal(created)) return created
    const workspace = await ask(getWorkspace, {})
    if (isRefusal(workspace)) return workspace
    const seated = await ask(getUser, { id: userIdOf(owner.email) })
    return isRefusal(seated) ? seated : { status: 201, body: { ...workspace, owner: seated.user } }
  },
})

const change = defineWrite({
  ...one,
  name: 'administer-workspace',
  summary: 'Change a workspace, its plan or how its subscription stands',
  method: 'PATCH',
  mounts: [{ surface: 'operator', path: `${path}/:id` }],
  body: workspaceRecord.pick({ name: true, timezone: true, planId: true, subscriptionStatus: true }).partial(),
  responses: { 200: z.object({ workspace: workspaceShape }) },
  rejects: changeWorkspace.rejects,
  record: ({ id }) => id,
  async run({ body, act, ask }) {
    const done = await act(changeWorkspace, body)
    if (isRefusal(done)) return done
    const answer = await ask(getWorkspace, {})
    return isRefusal(answer) ? answer : { status: 200, body: answer }
  },
})

const credit = defineWrite({
  ...one,
  name: 'credit-wallet',
  summary: "Add money that was paid to a workspace's wallet",
  method: 'POST',
  mounts: [{ surface: 'operator', path: `${path}/:id/credits` }],
  body: creditInput,
  responses: { 200: getWalletEntry.response },
  rejects: ['workspace-not-found', ...creditWallet.rejects],
  async run({ body, act, ask }) {
    const done = await act(creditWallet, body)
    if (isRefusal(done)) return done
    const answer = await ask(getWalletEntry, { reference: body.reference })
    return isRefusal(answer) ? answer : { status: 200, body: answer }
  },
})

const createKey = defineWrite({
  name: 'create-platform-key',
  summary: 'Make an API key that belongs to no workspace',
  method: 'POST',
  mounts: [{ surface: 'operator', path: '/api/operator/keys' }],
  body: newApiKey,
  responses: { 201: z.object({ apiKey: apiKeyShape, key: z.string() }) },
  async run(writing) {
    const key = await issueSecret(writing, 'create-platform-key', 'svc_live_')
    const done = await writing.act(createPlatformKey, { ...writing.body, ...storedSecret(key) })
    if (isRefusal(done)) return done
    const { secrets: _secrets, ...apiKey } = done.first('PlatformKeyCreated')?.apiKey ?? { secrets: [] }
    const shown = { ...apiKey, createdBy: writing.principal.actor, lastUsedAt: null, revokesAt: null }
    return { status: 201, body: { apiKey: shown, key } }
  },
})

const rebuild = defineWrite({
  name: 'rebuild-projection',
  summary: 'Build a projection anew beside the one that is read',
  method: 'POST',
  mounts: [{ surface: 'operator', path: '/api/operator/projections/:name/rebuild' }],
  params: z.object({ name: z.string() }),
  responses: { 202: z.object({ rebuild: rebuildShape.extend({ name: z.string() }) }) },
  rejects: ['projection-not-found', 'conflict'],
  async run({ params: { name }, tools: { projectionRows, rebuild } }) {
    const rowOf = async () => (await projectionRows()).find((row) => row.name === name)
    if (!(await rowOf())) return refuseNotFound('projection')
    const began = await rebuild(name)
    // A small one may be done by now.
    const now = (await rowOf())?.rebuild ?? { position: 0, head: 0, share: 1 }
    return began
      ? { status: 202, body: { rebuild: { name, ...now } } }
      : refuse('conflict', now, 'That projection is being rebuilt already.')
  },
})

/** What the platform's staff does to workspaces, keys without one, and projections (Supplement §2, "Operator"). */
export const operatorWrites: readonly Write[] = [create, change, credit, createKey, rebuild]
