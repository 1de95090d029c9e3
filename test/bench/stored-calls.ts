import { join } from 'node:path'
import { callLog } from '../../projections/calls/call-log.ts'
import { openSqliteEventReader } from '../../src/adapters/sqlite/event-log.ts'
import { openSqliteReadStore } from '../../src/adapters/sqlite/read-store.ts'
import { collectionOf } from '../../src/kernel/projection.ts'
import { buildNames } from '../../src/runtime/projections/build-names.ts'
import { wholeCheckpoint } from '../support/memory/ownership.ts'
import { catchUp } from './catch-up.ts'
import { generatedCallOf, headOf, type PlayedTemplates, playTemplates, raiseHead } from './generated-log.ts'
import { type Template, textOf } from './template.ts'

const BATCH = 5_000

/** The document of a call as a template of others. */
interface StoredTemplate {
  readonly template: Template
  readonly textFor: ReturnType<typeof textOf>
}

/** Read models in a directory to which calls are added without a replay. */
export interface StoredCalls {
  readonly workspaceId: string
  readonly views: string
  /** Directory of the columns. */
  readonly columns: string
  /** Adds generated calls until there are this many over the last week. */
  readonly growTo: (calls: number) => Promise<void>
  /** Resets the checkpoint to the head of the log, so that a projector has nothing to do. */
  readonly resetCheckpoint: () => Promise<void>
  /** Raises the head of the log to the last document instead, so that columns are not reloaded either. */
  readonly raiseHead: () => void
}

/** Plays a few hundred calls, projects them, and uses the documents of the call log as templates. */
export async function storeCalls(directory: string, secrets: readonly string[] = []): Promise<StoredCalls> {
  const played = await playTemplates(directory, secrets)
  const [events, views] = [join(directory, 'events.db'), join(directory, 'views.db')]
  const head = headOf(directory)
  await catchUp(await openSqliteEventReader(events), views, head)
  const templates = await storedTemplates(views, played)
  let stored = played.callIds.length
  return {
    workspaceId: played.workspaceId,
    views,
    columns: join(directory, 'columns'),
    async growTo(calls) {
      await store(views, templates, head, stored, calls)
      stored = calls
    },
    resetCheckpoint: () => rest(views, head),
    raiseHead: () => raiseHead(directory, head + stored),
  }
}

async function storedTemplates(
  views: string,
  { callIds, templates }: PlayedTemplates,
): Promise<readonly StoredTemplate[]> {
  const store = await openSqliteReadStore(views)
  const found = new Map((await store.getMany(collectionOf(callLog), callIds)).map(({ id, doc }) => [id, doc]))
  await store.close()
  return callIds.flatMap((callId, n) => {
    const [doc, template] = [found.get(callId), templates[n]]
    return doc && template ? [{ template, textFor: textOf(callId, JSON.stringify(doc)) }] : []
  })
}

/** Each document gets its own position after the head of the log, as if an event had written it. */
async function store(
  path: string,
  templates: readonly StoredTemplate[],
  head: number,
  from: number,
  to: number,
): Promise<void> {
  const store = await openSqliteReadStore(path)
  const { collection, checkpoint } = buildNames(callLog)
  const name = wholeCheckpoint(checkpoint)
  for (let n = from; n < to; n += BATCH) {
    const writes = Array.from({ length: Math.min(BATCH, to - n) }, (_, k) => {
      const { template, textFor } = templates[(n + k) % templates.length] as StoredTemplate
      const call = generatedCallOf(template, n + k, to)
      return { collection, id: call.ids[0] ?? '', doc: JSON.parse(textFor(call)), position: head + n + k }
    })
    const stands = await store.checkpoint(name)
    const next = { ...stands, position: head + n + writes.length - 1, at: null }
    if (!(await store.commit(writes, { name, expected: stands?.position ?? null, next })))
      throw new Error('The calls were not stored.')
  }
  await store.close()
}

async function rest(path: string, head: number): Promise<void> {
  const store = await openSqliteReadStore(path)
  const name = wholeCheckpoint(buildNames(callLog).checkpoint)
  const stands = await store.checkpoint(name)
  await store.commit([], { name, expected: stands?.position ?? null, next: { at: null, ...stands, position: head } })
  await store.close()
}
