import { readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { buildSnippet, SNIPPET_PATH } from '../../../scripts/snippet.ts'

describe('the page snippet as it is served', async () => {
  const script = await readFile(SNIPPET_PATH, 'utf8')

  it('is what npm run snippet builds', async () => {
    expect(script).toBe(await buildSnippet())
  })

  it('is under 4 KB gzipped', () => {
    expect(gzipSync(script).length).toBeLessThan(4_000)
  })

  it('is plain ASCII, and has nothing that a content security policy forbids', () => {
    expect(script).toMatch(/^[\x20-\x7e\n]+$/)
    expect(script).not.toMatch(
      /\beval\b|new Function|innerHTML|insertAdjacentHTML|document\.write|\.style\b|cookie|sendBeacon/,
    )
  })

  it('has no regular expression that browsers of its time cannot read', () => {
    expect(script).not.toMatch(/\(\?<|\\p\{/)
  })
})
