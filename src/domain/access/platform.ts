import { z } from 'zod'
import { defineEntity } from '../../kernel/entity.ts'
import { id } from '../../kernel/wire.ts'
import { nameSchema } from '../shared/fields.ts'
import { NAME } from '../shared/limits.ts'
import { apiKey } from './api-key.ts'

/** These names are the storage format. */
export const platformEvents = {
  /** The id that a workspace is to have: asked for again, the same command gives the same. */
  WorkspaceOpened: z.object({ workspaceId: id, name: nameSchema(NAME.workspace) }),
  /** A key with no workspace. */
  PlatformKeyCreated: z.object({ apiKey }),
}

/** What belongs to no workspace: one stream, `platform-all`. No rule needs to know what is in it. */
export const platform = defineEntity({
  name: 'platform',
  version: 1,
  longLived: true,
  deduplicatesCommands: true,
  events: platformEvents,
  initial: null,
  evolve: {},
})

/** Id of the platform's one stream. */
export const PLATFORM_ID = 'all'
