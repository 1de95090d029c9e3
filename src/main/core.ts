import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { createRequestLog } from '../api/request-log.ts'
import { createRoutingKeyUses } from '../api/routing-key-uses.ts'
import { errorMessage } from '../kernel/async/errors.ts'
import { createDeliveryStore } from '../reactions/delivery-store.ts'
import { createLookupLoader } from '../runtime/lookups/lookup-loader.ts'
import { enter, ownerName, versionsOf } from '../runtime/ownership/presence.ts'
import { withNewestAppends } from '../runtime/write/newest-appends.ts'
import { withNextPosition } from '../runtime/write/next-position.ts'
import { withOutdatedWatch } from '../runtime/write/outdated-watch.ts'
import { createStreamWriter } from '../runtime/write/stream-writer.ts'
import { type Config, isSingleProcess } from './config.ts'
import { createCursors } from './cursors.ts'
import { openRoot } from './keyring.ts'
import { withMeasuredAppends } from './metrics/measured-stores.ts'
import { createMetrics } from './metrics/metrics.ts'
import { type OlderLogPorts, refuseOlderLog } from './older-log.ts'
import { countParkedStreams } from './parked-counts.ts'
import { openPeers } from './peers.ts'
import { createPlatformEffects } from './platform-effects.ts'
import { openReadSide } from './read-side/read-side.ts'
import type { ReadThreads } from './read-side/read-threads.ts'
import { projections, upcasts } from './registry.ts'
import { createSecrets } from './secrets.ts'
import { openLog, openOperationalStore, openReadStore } from './stores.ts'
import { systemClock as clock, systemRandom as random } from './system.ts'

/** This run's name among the processes that share the stores. A process that listens on a fixed port is known again after a restart. */
function ownerOf({ port }: Pick<Config, 'port'>): string {
  const run = random.uuid()
  return ownerName(port === 0 ? run : `${hostname()}:${port}`, run)
}

/** Opens the read store for the check alone: other threads read it later. */
async function refuseOlderLogOf(readStoreUrl: string, ports: Omit<OlderLogPorts, 'store'>): Promise<void> {
  const store = await openReadStore(readStoreUrl)
  try {
    await refuseOlderLog({ ...ports, store })
  } finally {
    await store.close()
  }
}

/** The stores of a process, and what reads and writes them. */
export type Core = Awaited<ReturnType<typeof openCore>>

/**
 * Opens the stores that the configuration names, the threads that read, and the writer. `onDeath` is called with one sentence when
 * one of the threads has died: the process is of no use from then on.
 */
export async function openCore(
  config: Config,
  logger: Logger,
  { onDeath, threads }: { readonly onDeath: (sentence: string) => void; readonly threads?: ReadThreads | undefined },
) {
  const { eventLogUrl, readStoreUrl, masterKeys, roles } = config
  const metrics = createMetrics()
  const [opened, ops] = await Promise.all([openLog(eventLogUrl), openOperationalStore(readStoreUrl)])
  const measured = withMeasuredAppends(opened, metrics.appendEnded)
  const isSingle = isSingleProcess(config)
  // Positions of the log in a file have no gaps.
  const counted =
    isSingle && eventLogUrl.startsWith('sqlite:') ? withNextPosition(measured, await measured.head()) : null
  const { log, newestOf, add: onAppended } = withNewestAppends(counted?.log ?? measured)
  // Before the root, which is the first event of an empty log.
  await refuseOlderLogOf(readStoreUrl, { log, ops, clock })
  const root = await openRoot(log, masterKeys, { clock, random })
  const secrets = createSecrets(root, random)
  const owner = ownerOf(config)
  const presence = await enter({ ops, clock, owner, reads: versionsOf(projections) })
  const readSide = await openReadSide({
    ops,
    owner,
    shards: config.shards,
    head: await log.head(),
    eventLogUrl,
    readStoreUrl,
    columnsDirectory: join(config.dataDir, 'columns'),
    sipDomain: config.sipDomain,
    publicUrl: config.publicUrl ?? `http://${config.host}:${config.port}`,
    root,
    projects: roles.has('projector'),
    isSingleProcess: isSingle,
    threads,
    onDeath({ message }) {
      logger.fatal({ error: message }, 'a thread of the read side has ended')
      // Others take over what that thread did.
      void presence.leave()
      onDeath(message)
    },
  })
  const { views, lookUp: read } = readSide
  /** Numbers of parked streams, by reaction. */
  const parked = () => countParkedStreams(ops, clock)
  const peers = openPeers(config, { ops, clock, owner, root, onAppended, metrics, logger })
  const writer = withOutdatedWatch(
    createStreamWriter({
      log,
      ops,
      clock,
      random,
      lookUp: createLookupLoader({ log, clock, upcasts, projections, read }),
      onAppend: peers.onAppend,
      nextPosition: counted?.nextPosition,
      onSnapshotFailure(stream, error) {
        metrics.snapshotFailed()
        logger.error({ stream, error: errorMessage(error) }, 'a snapshot could not be saved or read')
      },
    }),
  )
  return {
    log,
    newestAppendOf: newestOf,
    ops,
    secrets,
    cursors: createCursors(root),
    readSide,
    views,
    positions: readSide.positions,
    writer: await peers.connect(writer),
    peers,
    metrics,
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
    /** This process's name on its leases and claims. */
    owner,
    presence,
    parked,
    shards: config.shards,
  }
}

/** The effects of events, run at once in the process that appended them; one that fails is left to its reaction. */
export function openEffects(
  { writer, log, ops, views, owner, metrics, routingKeyUses }: Core,
  ports: Pick<Parameters<typeof createPlatformEffects>[0], 'carrier' | 'auctions' | 'leases'>,
  logger: Logger,
) {
  return createPlatformEffects({
    writer,
    log,
    deliveries: createDeliveryStore({ views, ops, clock }),
    ...ports,
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
