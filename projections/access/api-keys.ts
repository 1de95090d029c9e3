import { type ApiKey, apiKey, apiKeyEvents, apiKeyGraceEnd } from '../../src/domain/access/api-key.ts'
import { actor } from '../../src/domain/shared/fields.ts'
import { applyPatch } from '../../src/domain/shared/patch.ts'
import { workspaceIdOf } from '../../src/kernel/entity.ts'
import { defineProjection } from '../../src/kernel/projection.ts'
import { id, instant } from '../../src/kernel/wire.ts'

const shownFields = apiKey.omit({ id: true, secrets: true, createdBy: true })

function shownFieldsOf({ id: _id, secrets, createdBy: _createdBy, ...key }: ApiKey) {
  return { ...key, revokesAt: apiKeyGraceEnd({ secrets }) }
}

/** API keys for the console, by id; `apiKeyStatusAt` gives the status at an instant. */
export const apiKeys = defineProjection({
  name: 'api-keys',
  version: 1,
  events: apiKeyEvents,
  doc: shownFields.extend({ workspaceId: id, createdBy: actor, revokesAt: instant.nullable() }),
  indexes: [{ workspaceId: 1, createdAt: -1 }],
  key: ({ data }) => ('apiKey' in data ? data.apiKey.id : data.apiKeyId),
  create: {
    ApiKeyCreated: (event) => ({
      ...shownFieldsOf(event.data.apiKey),
      workspaceId: workspaceIdOf(event),
      createdBy: event.meta.actor,
    }),
  },
  update: {
    ApiKeyChanged: (doc, { data }) => applyPatch(doc, data.after),
    ApiKeyRotated: (doc, { data }) => ({ ...doc, ...shownFieldsOf(data.apiKey) }),
    ApiKeyRevoked: (doc, { meta }) => ({ ...doc, status: 'revoked' as const, revokesAt: meta.at }),
  },
})
