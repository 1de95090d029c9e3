import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StoreSetup } from '../e2e/server.ts'
import { type Environment, freePort } from './platform-process.ts'

/** The environment of a platform that seeds nothing and writes below its own directory. */
export interface FaultEnvironment {
  readonly env: Environment
  readonly dataDir: string
  readonly eventLogUrl: string
  readonly readStoreUrl: string
  /** Removes the directory. */
  readonly remove: () => void
}

/** Creates an environment with the stores of a setup and a free port. */
export async function createFaultEnvironment(setup?: StoreSetup): Promise<FaultEnvironment> {
  const directory = mkdtempSync(join(tmpdir(), 'ringledger-faults-'))
  const dataDir = join(directory, 'var')
  const stores = {
    EVENT_LOG_URL: `sqlite:${join(dataDir, 'events.db')}`,
    READ_STORE_URL: `sqlite:${join(dataDir, 'views.db')}`,
    ...setup?.connectionStrings(),
  }
  const env = {
    NODE_ENV: 'production',
    CARRIER_URL: 'simulator:',
    MASTER_KEY: Buffer.alloc(32, 'faults').toString('base64'),
    // Suites that share an event log share its master key too.
    ...stores,
    LOG_LEVEL: 'error',
    DATA_DIR: dataDir,
    PORT: await freePort(),
  }
  return {
    env,
    dataDir,
    eventLogUrl: stores.EVENT_LOG_URL,
    readStoreUrl: stores.READ_STORE_URL,
    remove: () => rmSync(directory, { recursive: true, force: true }),
  }
}
