import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/** Where the programs are that verify a signature. */
export const VERIFIERS = join(import.meta.dirname, '../../docs/verifiers')

/** The programs: what runs each, what the machine must have for it, and the language of its block in the page. */
export const PROGRAMS = [
  { name: 'verify.mjs', command: process.execPath, needs: [], language: 'js' },
  { name: 'verify.py', command: 'python3', needs: [['python3', '--version']], language: 'python' },
  {
    name: 'verify.sh',
    command: 'sh',
    needs: [
      ['sh', '-c', 'exit 0'],
      ['openssl', 'version'],
    ],
    language: 'sh',
  },
] as const

/** Programs that a verifier needs and the machine lacks. */
export function missingFor({ needs }: (typeof PROGRAMS)[number]): readonly string[] {
  return needs.flatMap(([program, ...words]) => (spawnSync(program, words).status === 0 ? [] : [program]))
}
