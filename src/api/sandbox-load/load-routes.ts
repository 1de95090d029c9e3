import { ulid } from 'ulid'
import { z } from 'zod'
import { workspace } from '../../domain/configuration/workspace.ts'
import { refuse } from '../../kernel/refusal.ts'
import { id } from '../../kernel/wire.ts'
import type { ApiRequest, ApiRoute } from '../../ports/api.ts'
import { noParams } from '../no-params.ts'
import { loadProgress, sandboxLoad } from './load.ts'
import { createAttempts, type LoadPorts } from './load-attempt.ts'
import { loadLanes } from './load-lanes.ts'
import { type LoadRunner, noCounts, startLoad } from './run-load.ts'

const loadParams = z.object({ id })

const workspaceOf = ({ principal }: Pick<ApiRequest, 'principal'>) => principal.tenant?.workspaceId ?? ''

const NO_LANE = 'No lane of these publishers has a key and a number that calls can come to.'
const RUNNING = 'A load is under way; it has to end first.'

/** The routes of simulated loads. Mounted only with the simulated carrier. */
export function sandboxLoadRoutes(ports: LoadPorts & LoadRunner): readonly ApiRoute[] {
  const { writer, random, store } = ports

  async function start(request: ApiRequest) {
    const { body, principal, requestId, ip, surface } = request
    const workspaceId = workspaceOf(request)
    const sent = sandboxLoad.parse(body)
    const state = await writer.stateOf(workspace, workspaceId)
    const unknown = sent.publishers?.find((publisherId) => !state.publishers.has(publisherId))
    if (unknown !== undefined) return refuse('publisher-not-found', { publishers: unknown })
    const lanes = loadLanes(state, sent.publishers)
    if (lanes.length === 0) return refuse('conflict', null, NO_LANE)
    const actor = principal.actor
    const context = { workspaceId, actor, correlationId: requestId, causationId: null, surface, ip }
    const counts = noCounts()
    const attempt = createAttempts(ports, { ...context, commandId: ulid() }, { mix: sent.mix, lanes }, counts)
    const runId = random.uuid()
    const started = await startLoad(ports, { workspaceId, id: runId }, sent, { counts, attempt })
    if (started === null) return refuse('conflict', null, RUNNING)
    return { status: 202, body: { id: runId }, position: null }
  }

  async function read(request: ApiRequest) {
    const { id: runId } = loadParams.parse(request.params)
    const progress = await store.read({ workspaceId: workspaceOf(request), id: runId })
    return progress === null ? refuse('load-not-found') : { status: 200, body: progress, position: null }
  }

  const sandbox = { surface: 'sandbox', scope: null, query: noParams } as const
  return [
    {
      ...sandbox,
      method: 'POST',
      path: '/api/sandbox/load',
      write: true,
      name: 'start-load',
      summary: 'Play simulated calls and pings at a pace',
      params: noParams,
      body: sandboxLoad,
      responses: { 202: z.object({ id }) },
      rejects: ['publisher-not-found', 'conflict'],
      run: start,
    },
    {
      ...sandbox,
      method: 'GET',
      path: '/api/sandbox/load/:id',
      write: false,
      name: 'get-load',
      summary: 'Get the progress of a simulated load',
      params: loadParams,
      body: null,
      responses: { 200: loadProgress },
      rejects: ['load-not-found'],
      run: read,
    },
  ]
}
