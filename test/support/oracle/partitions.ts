import { createHash } from 'node:crypto'
import type { RecordedEvent } from '../../../src/kernel/event.ts'

/** Kinds of streams that belong to no workspace. */
export const OWN_ID: ReadonlySet<string> = new Set(['user', 'platform', 'simulator', 'telnyx', 'keyring'])

/** Streams whose name does not carry the partition of their events' workspace or, without a workspace, of their own id. */
export function partitionViolations(events: readonly RecordedEvent[]): readonly string[] {
  const broken = events.flatMap(({ stream, meta }) => {
    const [, kind = '', partition, id = ''] = /^([a-z]+)-([0-9a-f]{2})-(.+)$/.exec(stream) ?? []
    const owner = OWN_ID.has(kind) ? id : (meta.workspaceId ?? '')
    const expected = createHash('sha256').update(owner).digest('hex').slice(0, 2)
    return partition === expected && owner !== '' ? [] : [`${stream} is not in partition ${expected} of ${owner}`]
  })
  return [...new Set(broken)]
}
