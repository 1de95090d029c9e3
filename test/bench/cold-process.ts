import { firstDecision } from './cold-start.ts'

/** A separate process that decides on one call and ends: `cold-process.ts <directory> <workspace id> <number>`. */
const [directory = '', workspaceId = '', to = ''] = process.argv.slice(2)
const { close } = await firstDecision(directory, workspaceId, to)
await close()
