import { firstDecision } from './cold-start.ts'

/**
 * A separate process that decides on one call and ends: `cold-process.ts <directory> <workspace id> <number> [store]`. The
 * operational store is `sqlite`, in the directory (by default), or the URL of a MongoDB.
 */
const [directory = '', workspaceId = '', to = '', ops = 'sqlite'] = process.argv.slice(2)
const { close } = await firstDecision(directory, workspaceId, to, ops)
await close()
