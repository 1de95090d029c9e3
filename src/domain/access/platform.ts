import { z } from 'zod'
import { defineEntity } from '../../kernel/entity.ts'
import { id } from '../../kernel/wire.ts'
import { nameSchema } from '../shared/fields.ts'
import { NAME } from '../shared/limits.ts'
import { apiKey } from './api-key.ts'

/** These names are the storage format. */
export const platformEvents = {
  /** Reserves the id of a new workspace: a repeated command returns the same id. */
  WorkspaceOpened: z.object({ workspaceId: id, name: nameSchema(NAME.workspace) }),
  /** A key with no workspace. */
  PlatformKeyCreated: z.object({ apiKey }),
}

/** What belongs to no workspace: the one stream `platform-5e-all`. No rule reads its state. */
export const platform = defineEntity({
  name: 'platform',
  version: 1,
  longLived: true,
  deduplicatesCommands: true,
  events: platformEvents,
  initial: null,
  evolve: {},
})

/** Id of the platform's only stream. */
export const PLATFORM_ID = 'all'
