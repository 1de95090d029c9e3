import type { z } from 'zod'
import type { apiKeys } from '../../projections/access/api-keys.ts'
import { apiKey, apiKeyStatusAt } from '../../src/domain/access/api-key.ts'
import { lastUseKey } from '../../src/domain/access/request-log.ts'
import { actor } from '../../src/domain/shared/fields.ts'
import type { WithId } from '../../src/kernel/document.ts'
import { instant } from '../../src/kernel/wire.ts'
import type { OperationalStore } from '../../src/ports/operational-store.ts'
import type { DocOf } from '../shared/documents.ts'

/** An API key as the console shows it (Supplement §2): never a secret, nor the hash of one. */
export const apiKeyShape = apiKey
  .omit({ secrets: true })
  .extend({ createdBy: actor, lastUsedAt: instant.nullable(), revokesAt: instant.nullable() })
  .meta({ id: 'ApiKey' })

/** API keys with their current status and last use. */
export async function apiKeyShapes(
  ops: Pick<OperationalStore, 'get'>,
  now: string,
  docs: readonly WithId<DocOf<typeof apiKeys>>[],
): Promise<z.infer<typeof apiKeyShape>[]> {
  const uses = await Promise.all(docs.map(({ id }) => ops.get(lastUseKey(id), Date.parse(now))))
  return docs.map((doc, n) => {
    const lastUse = uses[n]?.value
    return {
      id: doc.id,
      name: doc.name,
      prefix: doc.prefix,
      scopes: doc.scopes,
      ipAllowlist: doc.ipAllowlist,
      rateLimitPerMinute: doc.rateLimitPerMinute,
      createdBy: doc.createdBy,
      createdAt: doc.createdAt,
      lastUsedAt: typeof lastUse === 'number' ? new Date(lastUse).toISOString() : null,
      ...apiKeyStatusAt(doc, now),
    }
  })
}
