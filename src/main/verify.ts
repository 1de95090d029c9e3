import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openLocalFiles } from '../adapters/files/local-files.ts'
import { simulatedCall } from '../adapters/simulator/simulated-call.ts'
import { simulatedNumber } from '../adapters/simulator/simulated-number.ts'
import type { StoredExpiries } from '../adapters/sqlite/file-verifier.ts'
import { session } from '../adapters/telnyx/session.ts'
import { errorMessage } from '../kernel/async/errors.ts'
import { anyEntityOf } from '../kernel/entity.ts'
import { collectionOf } from '../kernel/projection.ts'
import { START } from '../ports/event-log.ts'
import { parseCollectionName } from '../runtime/projections/build-names.ts'
import { type VerifyProgress, type VerifyReport, VerifyStopped, verify as verifyStores } from '../verify/verify.ts'
import { readConfig } from './config.ts'
import { keyring } from './keyring.ts'
import { entities, projections } from './registry.ts'
import { checkStoreFiles, openLogVerifier, openReadStore, requireLogFile } from './stores.ts'
import { systemClock as clock } from './system.ts'

/** Name of the directories of checks, which end with the process that made them. */
const SCRATCH = /^verify-(\d+)-/

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Removes what checks left that were killed. */
function removeAbandoned(dataDir: string): void {
  for (const name of readdirSync(dataDir)) {
    const pid = SCRATCH.exec(name)?.[1]
    if (pid !== undefined && !isRunning(Number(pid))) rmSync(join(dataDir, name), { recursive: true, force: true })
  }
}

/** Every kind of stream that the log may hold. */
const streamKinds = [
  ...entities,
  anyEntityOf(simulatedCall),
  anyEntityOf(simulatedNumber),
  anyEntityOf(session),
  anyEntityOf(keyring),
]

/** When the documents of each collection expire, as their projections say. */
function storedExpiries(): StoredExpiries {
  const byCollection = new Map(projections.map((projection) => [collectionOf(projection), projection.expiresAt]))
  return { expiryOf: (collection) => byCollection.get(parseCollectionName(collection).base) ?? null, now: clock.now() }
}

const NOTHING_READ = { head: START, events: 0, models: 0, documents: 0, notes: [] }

/** The report on files so damaged that their stores cannot be opened. */
function unopenedReport(sentences: readonly string[], end: string): VerifyReport {
  const findings = [...sentences, `The check ended early: ${end}`].map((sentence) => ({
    check: 'files',
    sentence,
  }))
  return { ...NOTHING_READ, findings, total: findings.length, byCheck: { files: findings.length } }
}

/**
 * Checks all that the stores of the environment hold: the log, the read models beside their rebuild, the activity chains and the
 * columns. A server may run meanwhile. Temporary files are in a directory of their own in `DATA_DIR`.
 * @throws ConfigurationError, LogUnavailable, StoreUnavailable; VerifyStopped by the signal
 */
export async function verify(
  env: Readonly<Record<string, string | undefined>>,
  onProgress: (progress: VerifyProgress) => void,
  signal: AbortSignal,
): Promise<VerifyReport> {
  const { dataDir, eventLogUrl, readStoreUrl } = readConfig(env)
  requireLogFile(eventLogUrl)
  removeAbandoned(dataDir)
  onProgress({ phase: 'files', done: 0, total: 0 })
  const fileProblems = checkStoreFiles(eventLogUrl, readStoreUrl, storedExpiries())
  const directory = mkdtempSync(join(dataDir, `verify-${process.pid}-`))
  const opened: { readonly close: () => Promise<void> }[] = []
  const keep = <Store extends { readonly close: () => Promise<void> }>(store: Store): Store => {
    opened.push(store)
    return store
  }
  try {
    const log = keep(await openLogVerifier(eventLogUrl))
    const views = keep(await openReadStore(readStoreUrl))
    const scratch = keep(await openReadStore(`sqlite:${join(directory, 'scratch.db')}`))
    const columns = openLocalFiles(join(dataDir, 'columns'))
    const ports = { log, views, scratch, columns, fileProblems, entities: streamKinds, projections, clock, signal }
    return await verifyStores(ports, onProgress)
  } catch (error) {
    if (error instanceof VerifyStopped || fileProblems.length === 0) throw error
    return unopenedReport(fileProblems, errorMessage(error))
  } finally {
    await Promise.allSettled(opened.map((store) => store.close()))
    rmSync(directory, { recursive: true, force: true })
  }
}
