import { chmodSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { embeddedStores, freshEnvironment, type Server, startServer } from '../../support/e2e/server.ts'

/** Permissions of everything under a directory, itself included, as octal digits by relative path. */
function permissionsUnder(directory: string): ReadonlyMap<string, string> {
  const paths = ['.', ...readdirSync(directory, { recursive: true, encoding: 'utf8' })]
  return new Map(paths.map((path) => [path, (statSync(join(directory, path)).mode & 0o777).toString(8)]))
}

/** Starts a platform as a shell with that umask would. */
function startWithUmask(mask: number, env: Readonly<Record<string, string>>): Promise<Server> {
  const before = process.umask(mask)
  const starting = startServer(env)
  process.umask(before)
  return starting
}

describe('files of the platform', () => {
  const STORES = ['events.db', 'events.db-wal', 'events.db-shm', 'views.db', 'views.db-wal', 'views.ops.db-shm']

  it.each(['000', '022', '077'])('are its owner’s alone under umask %s', async (mask) => {
    const env = freshEnvironment(embeddedStores)
    const server = await startWithUmask(Number.parseInt(mask, 8), env)
    try {
      const permissions = permissionsUnder(server.dataDir)
      expect([...permissions.keys()]).toEqual(expect.arrayContaining([...STORES, 'sandbox.json', 'master.key']))
      for (const [path, digits] of permissions) expect([path, digits]).toEqual([path, path === '.' ? '700' : '600'])
      // SQLite creates its files before their mode can be changed, wherever they lie.
      if (process.platform === 'linux')
        expect(readFileSync(`/proc/${server.pid}/status`, 'utf8')).toMatch(/^Umask:\s+0077$/m)
    } finally {
      await server.dispose()
    }
  })

  it('of an earlier version are taken from others at the next start', async () => {
    const server = await startServer(freshEnvironment(embeddedStores))
    try {
      await server.kill()
      for (const name of STORES) chmodSync(join(server.dataDir, name), 0o644)
      chmodSync(server.dataDir, 0o755)
      await server.restart()
      const permissions = permissionsUnder(server.dataDir)
      expect(permissions.get('.')).toBe('700')
      for (const name of STORES) expect([name, permissions.get(name)]).toEqual([name, '600'])
    } finally {
      await server.dispose()
    }
  })
})
