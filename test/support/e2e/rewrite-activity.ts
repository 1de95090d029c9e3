import { activity } from '../../../projections/activity/activity.ts'
import { readConfig } from '../../../src/main/config.ts'
import { openReadStore } from '../../../src/main/stores.ts'
import type { Doc, StoredDocument } from '../../../src/ports/read-store.ts'
import { readActiveCollections } from '../../../src/runtime/projections/build-alias.ts'
import { documentWrite } from '../fixtures/documents.ts'

/** Rewrites rows of the activity log directly in a platform's read models; `forge` maps the stored rows to the new ones. */
export async function rewriteActivityRows(
  env: Readonly<Record<string, string>>,
  workspaceId: string,
  forge: (rows: readonly StoredDocument[]) => readonly { readonly id: string; readonly doc: Doc | null }[],
): Promise<void> {
  const store = await openReadStore(readConfig(env).readStoreUrl)
  try {
    // Another suite may have had it rebuilt.
    const collection = (await readActiveCollections(store, [activity])).get(activity.name) ?? ''
    const rows = await store.find(collection, { filter: { workspaceId, head: false }, sort: { seq: 1 } })
    const writes = forge(rows).map(({ id, doc }) => {
      const position = (rows.find((row) => row.id === id)?.position ?? 0) + 0.5
      return documentWrite(collection, { id, doc, workspaceId }, position)
    })
    const name = `tampering ${crypto.randomUUID()}`
    await store.commit(writes, { name, expected: null, next: { position: 0, at: null } })
  } finally {
    await store.close()
  }
}
