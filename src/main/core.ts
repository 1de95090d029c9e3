import type { Logger } from 'pino'
import { createRequestLog } from '../api/request-log.ts'
import { createRoutingKeyUses } from '../api/routing-key-uses.ts'
import { errorMessage } from '../kernel/async/errors.ts'
import { createStreamWriter } from '../runtime/write/stream-writer.ts'
import type { Config } from './config.ts'
import { createCursors } from './cursors.ts'
import { openRoot } from './keyring.ts'
import { createMetrics } from './metrics.ts'
import { createPlatformEffects } from './platform-effects.ts'
import { createLookupLoader } from './read-side/lookup-loader.ts'
import { openReadSide } from './read-side/read-side.ts'
import { createSecrets } from './secrets.ts'
import { openLog, openOperationalStore } from './stores.ts'
import { systemClock as clock, systemRandom as random } from './system.ts'

/** The stores of a process, and what reads and writes them. */
export type Core = Awaited<ReturnType<typeof openCore>>

/** Opens the stores that the configuration names, the threads that read, and the writer. */
export async function openCore(config: Config, logger: Logger) {
  const { eventLogUrl, readStoreUrl, masterKeys, roles } = config
  const log = await openLog(eventLogUrl)
  const root = await openRoot(log, masterKeys, { clock, random })
  const secrets = createSecrets(root, random)
  const ops = await openOperationalStore(readStoreUrl)
  const readSide = await openReadSide({
    eventLogUrl,
    readStoreUrl,
    publicUrl: config.publicUrl ?? `http://${config.host}:${config.port}`,
    root,
    projects: roles.has('projector'),
    onDeath: (error) => logger.fatal({ error: error.message }, 'a thread of the read side has ended'),
  })
  const { views } = readSide
  return {
    log,
    ops,
    secrets,
    cursors: createCursors(root),
    readSide,
    views,
    positions: readSide.positions,
    writer: createStreamWriter({ log, ops, clock, random, lookUp: createLookupLoader(log, views, clock) }),
    metrics: createMetrics(async () => readSide.projections?.() ?? []),
    requestLog: createRequestLog({
      ops,
      clock,
      random,
      onLost: (count, error) => logger.error({ count, error: errorMessage(error) }, 'request log lines were lost'),
    }),
    routingKeyUses: createRoutingKeyUses({
      ops,
      clock,
      onLost: (count, error) => logger.error({ count, error: errorMessage(error) }, 'uses of routing keys were lost'),
    }),
    clock,
    random,
    /** This process's name on its leases. */
    owner: random.uuid(),
  }
}

/** The effects of events, run at once in the process that appended them; one that fails is left to its reaction. */
export function openEffects(
  { writer, ops, owner, metrics, routingKeyUses }: Core,
  carrier: Parameters<typeof createPlatformEffects>[0]['carrier'],
  logger: Logger,
) {
  return createPlatformEffects({
    writer,
    carrier,
    clock,
    claims: { ops, owner },
    onRoutingKeyUse: routingKeyUses.add,
    onFailure: ({ type, stream }, error) => {
      metrics.stepFailed()
      const message = error instanceof Error ? error.message : String(error)
      logger.warn({ type, stream, error: message }, 'step failed; the reaction runner will retry it')
    },
  })
}
