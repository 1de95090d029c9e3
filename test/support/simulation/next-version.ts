import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../../..')
const COPIED = ['package.json', 'tsconfig.json', 'src', 'commands', 'projections', 'queries', 'scripts', 'docs']
/** What the next version has changed: rows with columns, records that are read back, and what authentication reads. */
const CHANGED = ['calls/call-log', 'demand/buyers', 'access/credentials']
const NEXT = 99

/** Copies the code with read models of a later version; returns the folder of its scripts. @throws Error where it finds no version */
export function copyNextVersion(directory: string): string {
  mkdirSync(directory)
  for (const name of COPIED) cpSync(join(ROOT, name), join(directory, name), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'))
  for (const name of CHANGED) {
    const file = join(directory, 'projections', `${name}.ts`)
    const source = readFileSync(file, 'utf8')
    const raised = source.replace(/^ {2}version: \d+,$/m, `  version: ${NEXT},`)
    if (raised === source) throw new Error(`${name} has no version.`)
    writeFileSync(file, raised)
  }
  return join(directory, 'scripts')
}
