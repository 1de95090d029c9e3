import { type ApiKey, apiKey, apiKeyEvents, graceEndOf } from '../../src/domain/access/api-key.ts'
import { changed } from '../../src/domain/shared/changes.ts'
import { actor } from '../../src/domain/shared/fields.ts'
import { workspaceIdOf } from '../../src/kernel/entity.ts'
import { defineProjection } from '../../src/kernel/projection.ts'
import { id, instant } from '../../src/kernel/wire.ts'

const shown = apiKey.omit({ id: true, secrets: true, createdBy: true })

function shownOf({ id: _id, secrets, createdBy: _createdBy, ...key }: ApiKey) {
  return { ...key, revokesAt: graceEndOf({ secrets }) }
}

/** API keys as the console shows them, by id; how one stands at an instant is `standingOf`. */
export const apiKeys = defineProjection({
  name: 'api-keys',
  version: 1,
  events: apiKeyEvents,
  doc: shown.extend({ workspaceId: id, createdBy: actor, revokesAt: instant.nullable() }),
  indexes: [{ workspaceId: 1, createdAt: -1 }],
  key: ({ data }) => ('apiKey' in data ? data.apiKey.id : data.apiKeyId),
  starts: {
    ApiKeyCreated: (event) => ({
      ...shownOf(event.data.apiKey),
      workspaceId: workspaceIdOf(event),
      createdBy: event.meta.actor,
    }),
  },
  on: {
    ApiKeyChanged: (doc, { data }) => changed(doc, data.after),
    ApiKeyRotated: (doc, { data }) => ({ ...doc, ...shownOf(data.apiKey) }),
    ApiKeyRevoked: (doc, { meta }) => ({ ...doc, status: 'revoked' as const, revokesAt: meta.at }),
  },
})
