import { spawnSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { missingFor, PROGRAMS, VERIFIERS } from '../support/verifiers.ts'

const read = (name: string) => readFileSync(join(VERIFIERS, name), 'utf8')

const SECRET = 'whsec_q8Zr4s1XoVn0bTtKcYw2LhG6mJpEfD7uAiR9NxB3vSk'
const NOW = 1_796_000_000
/** An envelope as another language may write it: a re-serialisation of it differs. */
const BODY = Buffer.from('{ "event": "call.completed", "data": { "city": "Zürich 📞", "rate": 1.50 } }\n')

const digestOf = (t: number | string, body: Uint8Array = BODY, secret = SECRET) =>
  createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex')
const signature = (t: number, body?: Uint8Array, secret?: string) => `t=${t},v1=${digestOf(t, body, secret)}`

const reserialized = Buffer.from(JSON.stringify(JSON.parse(BODY.toString())))
const binary = Buffer.from([0, 255, 10, 13, 0, 37, 92, 10, 10])
const right = signature(NOW)
const STALE = /five minutes/
const FORGED = /another secret or body/
const NO_PARTS = /no t or no v1/

interface Case {
  readonly header: string
  readonly body?: Uint8Array
  readonly secret?: string
  /** Why it is refused; none where it is right. */
  readonly reason?: RegExp
}

const CASES: Readonly<Record<string, Case>> = {
  'a right signature': { header: right },
  'one of a body of bytes': { header: signature(NOW, binary), body: binary },
  'one of an empty body': { header: signature(NOW, new Uint8Array()), body: new Uint8Array() },
  'one whose parts stand in the other order': { header: right.split(',').toReversed().join(',') },
  'one with spaces after the comma': { header: right.replace(',', ', ') },
  'one with further parts': { header: `v0=${'f'.repeat(64)},${right},kid=7,flag` },
  'one made five minutes ago': { header: signature(NOW - 300) },
  'one made five minutes ahead': { header: signature(NOW + 300) },
  'the signature of another secret': { header: right, secret: `${SECRET}x`, reason: FORGED },
  'the signature of a changed body': { header: right, body: Buffer.concat([BODY, Buffer.from(' ')]), reason: FORGED },
  'the signature of a body that was read and written again': { header: right, body: reserialized, reason: FORGED },
  'the signature of another instant': { header: right.replace(`t=${NOW}`, `t=${NOW + 1}`), reason: FORGED },
  'a signature cut short': { header: right.slice(0, -2), reason: /no v1|another/ },
  'a signature in capitals': { header: right.replace(/[0-9a-f]{64}/, (hex) => hex.toUpperCase()), reason: NO_PARTS },
  'a stale signature': { header: signature(NOW - 301), reason: STALE },
  'a signature of the future': { header: signature(NOW + 301), reason: STALE },
  'a header without an instant': { header: `v1=${digestOf('')}`, reason: NO_PARTS },
  'a header without a signature': { header: `t=${NOW}`, reason: NO_PARTS },
  'an instant that is no number': { header: `t=soon,v1=${digestOf('soon')}`, reason: NO_PARTS },
  'an instant of many digits': { header: `t=${'9'.repeat(5_000)},v1=${digestOf(0)}`, reason: NO_PARTS },
  'an empty header': { header: '', reason: NO_PARTS },
}

const present = PROGRAMS.filter((program) => {
  const lacking = missingFor(program)
  if (lacking.length > 0)
    process.stderr.write(`This machine has no ${lacking.join(' and no ')}: tests of ${program.name} are left out.\n`)
  return lacking.length === 0
})

describe.each(present)('$name', ({ name, command }) => {
  const verify = ({ header, body = BODY, secret = SECRET }: Case, env: Readonly<Record<string, string>>) =>
    spawnSync(command, [join(VERIFIERS, name), secret, header], {
      input: body,
      encoding: 'utf8',
      env: { PATH: process.env.PATH ?? '', ...env },
    })

  test.each(Object.entries(CASES))('judges %s', (_name, one) => {
    const { status, stdout, stderr } = verify(one, { NOW: String(NOW) })
    if (one.reason === undefined) expect([status, stdout, stderr]).toEqual([0, 'ok\n', ''])
    else {
      expect([status, stdout]).toEqual([1, ''])
      expect(stderr).toMatch(one.reason)
    }
  })

  test('goes by the clock of the machine', () => {
    const seconds = Math.floor(Date.now() / 1_000)
    expect(verify({ header: signature(seconds) }, {}).stdout).toBe('ok\n')
    expect(verify({ header: signature(seconds - 400) }, {}).stderr).toMatch(STALE)
  })
})

describe.each(PROGRAMS)('the text of $name', ({ name, language }) => {
  test('has at most 15 lines of code', () => {
    const code = read(name)
      .split('\n')
      .filter((line) => line.trim() !== '' && !/^\s*(#|\/\/)/.test(line))
    expect(code.length).toBeLessThanOrEqual(15)
  })

  test('stands in the page as it is', () => {
    expect(read('page.md')).toContain(`\`\`\`${language}\n${read(name)}\`\`\`\n`)
  })
})
