import type { Files } from '../../ports/files.ts'
import { checksumOf } from '../write/snapshots/checksum.ts'
import { MANIFEST } from './manifest.ts'
import { decodeHeader, type Section, type SegmentHeader } from './segment-header.ts'

/** How often a workspace is read again while its manifest is being replaced. */
const TRIES = 5

/** Segments that a manifest's text names; null for one that is damaged. */
function segmentsNamedBy(bytes: Uint8Array): readonly string[] | null {
  const end = bytes.indexOf(0x0a)
  const json = bytes.subarray(end + 1)
  if (end < 0 || Buffer.from(bytes.subarray(0, end)).toString() !== String(checksumOf(json))) return null
  const { segments } = JSON.parse(Buffer.from(json).toString()) as { readonly segments?: unknown }
  return Array.isArray(segments) ? segments.map(String) : []
}

function sectionsOf({ keys, columns }: SegmentHeader): readonly Section[] {
  return [keys, ...columns].flatMap((column) =>
    column.kind === 'number' && column.nulls ? [column.values, column.nulls] : [column.values],
  )
}

/** Whether all bytes of a segment that are read are those that were written. */
function isWhole(bytes: Uint8Array): boolean {
  const decoded = decodeHeader(bytes)
  if (decoded === null || typeof decoded === 'number') return false
  return sectionsOf(decoded.header).every(({ at, bytes: length, checksum }) => {
    const section = bytes.subarray(decoded.bytes + at, decoded.bytes + at + length)
    return section.length === length && checksumOf(section) === checksum
  })
}

async function problemsIn(files: Files, folder: string): Promise<readonly string[]> {
  const bytes = await files.read(`${folder}/${MANIFEST}`)
  // Without a manifest no segment of the folder counts.
  if (bytes === null) return []
  const segments = segmentsNamedBy(bytes)
  if (segments === null) return [`The manifest of columns ${folder} is damaged.`]
  const problems: string[] = []
  for (const name of segments) {
    const segment = await files.read(`${folder}/${name}`)
    if (segment === null) problems.push(`The column segment ${folder}/${name} is missing, and its manifest names it.`)
    else if (!isWhole(segment)) problems.push(`The column segment ${folder}/${name} is damaged.`)
  }
  return problems
}

const sameBytes = (one: Uint8Array | null, other: Uint8Array | null): boolean =>
  one === null || other === null ? one === other : Buffer.from(one).equals(other)

/**
 * Reads every manifest of columns, and every segment that one names, and yields sentences on those that are damaged or missing,
 * by workspace. A process may replace them meanwhile. @throws FilesUnavailable
 */
export async function* checkColumnFiles(files: Files): AsyncGenerator<readonly string[]> {
  for (const collection of await files.list('')) {
    for (const workspace of await files.list(collection)) {
      const folder = `${collection}/${workspace}`
      for (let tries = 1; ; tries += 1) {
        const before = await files.read(`${folder}/${MANIFEST}`)
        const problems = await problemsIn(files, folder)
        const isCurrent = sameBytes(before, await files.read(`${folder}/${MANIFEST}`))
        if (problems.length > 0 && !isCurrent && tries < TRIES) continue
        yield problems
        break
      }
    }
  }
}
