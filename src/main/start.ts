import { openLogger } from '../adapters/http/logger.ts'
import type { Sandbox } from '../seed/seed.ts'
import type { App } from './app.ts'
import { type Config, isSingleProcess, readConfig, rolesWarning } from './config.ts'
import { loadReadThreads } from './read-side/read-threads.ts'
import { systemClock as clock, systemRandom as random } from './system.ts'

/** What a person reads when the sandbox is up. */
function welcome({ baseUrl, ownerEmail, ownerPassword, apiKey, sessionToken, agencyId, poolKey }: Sandbox): string {
  return [
    '',
    `Ringledger answers on ${baseUrl}  (API documentation: ${baseUrl}/docs)`,
    '',
    `  workspace      ${agencyId}`,
    `  owner          ${ownerEmail}  ${ownerPassword}`,
    `  session token  ${sessionToken}`,
    ...(apiKey === null
      ? []
      : [
          `  API key        ${apiKey}`,
          '',
          'Try it:',
          `  curl -s -H "Authorization: Bearer ${apiKey}" "${baseUrl}/api/v1/calls?pageSize=3"`,
        ]),
    ...(poolKey === null ? [] : ['', `A page with a number for each visitor: ${baseUrl}/sandbox/landing`]),
    '',
  ].join('\n')
}

function fail(error: unknown): void {
  const sentence = error instanceof Error ? error.message : String(error)
  process.stderr.write(`Ringledger cannot start: ${sentence}\n`)
  process.exitCode = 1
}

/** Prepares the sandbox, in one process at a time: the others find it there. */
async function prepareSandbox(app: App, config: Config, url: string): Promise<Sandbox> {
  const [{ claimSeed }, { seedSandbox }] = await Promise.all([
    import('../seed/claim-seed.ts'),
    import('../seed/seed.ts'),
  ])
  const claim = isSingleProcess(config) ? null : await claimSeed({ ops: app.ops, owner: app.owner }, clock)
  try {
    return await seedSandbox({ ...app, clock, random }, config, url)
  } finally {
    await claim?.release()
  }
}

/** Exit code of a process of which a thread has died: an internal fault, as `sysexits.h` has it. */
const DIED = 70
/** How long such a process takes (ms) to finish what it still can. */
const END_MS = 5_000

/** Ends the process: whoever supervises it starts another. */
function end(sentence: string, app: App | null): void {
  process.stderr.write(`Ringledger ends: ${sentence.split('\n', 1)[0]}\n`)
  clock.schedule(clock.now() + END_MS, () => process.exit(DIED))
  const closed = app?.close().catch(() => undefined) ?? Promise.resolve()
  void closed.then(() => process.exit(DIED))
}

/**
 * Starts a process of the platform by its environment. What stops it from starting is told in one sentence, with exit code 1; what
 * ends it later, in one sentence with exit code 70.
 */
export async function start(env: Readonly<Record<string, string | undefined>>): Promise<App | null> {
  // Whatever this process creates is its owner's alone, from the moment of its creation.
  process.umask(0o077)
  let app: App | null = null
  let isEnding = false
  try {
    const config = readConfig(env)
    let preparing = config.roles.has('command-api') && !config.production && config.telnyx === null
    const logger = openLogger({ level: config.logLevel })
    const warning = rolesWarning(config)
    if (warning !== null) logger.warn(warning)
    // This thread and those of the read side load their modules at the same time.
    const threads = loadReadThreads(config.roles.has('projector'))
    const { openApp } = await import('./app.ts')
    app = await openApp(config, logger, {
      threads,
      unprepared: () => (preparing ? ['The sandbox workspace is being prepared.'] : []),
      onDeath(sentence) {
        if (!isEnding) end(sentence, app)
        isEnding = true
      },
    })
    const url = await app.listen()
    if (preparing) process.stdout.write(`${welcome(await prepareSandbox(app, config, url))}\n`)
    preparing = false
    return app
  } catch (error) {
    fail(error)
    await app?.close().catch(() => undefined)
    process.exit(1)
  }
}
