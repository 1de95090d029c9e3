import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { embeddedStores, freshEnvironment, runScript, startExpectingFailure } from '../../support/e2e/server.ts'
import { copyRecorded } from '../../support/fixtures/recorded-data.ts'

const RECORDED = join(import.meta.dirname, '../../support/fixtures/recorded-data-1')
const REFUSED =
  /\.db has format version \d+ of an earlier program, and this one reads version \d+ alone; move the data directory away, or start on an empty one\.\n$/

const homes: string[] = []
afterEach(() => {
  for (const home of homes.splice(0)) rmSync(home, { recursive: true })
})

/** The environment of a platform over a copy of some of the recorded files. */
function recorded(isCopied: (file: string) => boolean) {
  const env = freshEnvironment(embeddedStores)
  const { DATA_DIR = '' } = env
  homes.push(dirname(DATA_DIR))
  copyRecorded(RECORDED, DATA_DIR, isCopied)
  return env
}

describe('data that an earlier version wrote', () => {
  test.each([['start'], ['rebuild', '--all'], ['explain', '01900000-0000-7000-8000-000000000001'], ['reseal']])(
    'ends %s with one sentence that says what to do',
    async (script, ...options) => {
      const { code, stderr } = await runScript(
        recorded(() => true),
        script,
        ...options,
      )
      expect(code).toBe(1)
      expect(stderr).toMatch(REFUSED)
    },
  )

  test.each(['views.db', 'views.ops.db'])('ends the start where %s alone is of it', async (name) => {
    const env = recorded((file) => file === `${name}.gz`)
    const { code, stderr } = await startExpectingFailure(env)
    expect([code, stderr]).toEqual([1, expect.stringMatching(REFUSED)])
    expect(stderr).toContain(name)
  })
})
