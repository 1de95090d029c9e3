import type { Files } from '../../ports/files.ts'
import { checksumOf } from '../write/snapshots/checksum.ts'
import type { SectionMemory } from './column-memory.ts'
import { BLOCK_ROWS, type Bounds, type ColumnSource } from './column-source.ts'
import type { Layout } from './column-spec.ts'
import {
  type CodeHeader,
  decodeHeader,
  HEADER_GUESS,
  type NumberHeader,
  type Section,
  type SegmentHeader,
} from './segment-header.ts'

/** An immutable segment in a file: rows of one workspace and month. */
export interface Segment {
  readonly path: string
  readonly name: string
  readonly header: SegmentHeader
  /** Where its sections begin in the file. */
  readonly from: number
  /** What its rows come to; null where that is not kept. */
  readonly net: Segment | null
}

/** The files of segments. */
export function fileNamesOf(segments: readonly Segment[]): readonly string[] {
  return segments.flatMap(({ name, net }) => (net ? [name, net.name] : [name]))
}

/** A part of a segment is missing or damaged. */
export class DamagedSegment extends Error {
  override readonly name = 'DamagedSegment'
  readonly segment: Segment
  constructor(segment: Segment) {
    super(`${segment.path} is damaged.`)
    this.segment = segment
  }
}

/** Opens a segment by its header; null when it is missing, damaged or of another format or layout. @throws FilesUnavailable */
export async function openSegment(files: Files, folder: string, name: string, layout: Layout): Promise<Segment | null> {
  const path = `${folder}/${name}`
  const guess = await files.read(path, 0, HEADER_GUESS)
  let decoded = guess && decodeHeader(guess)
  if (typeof decoded === 'number') {
    const whole = await files.read(path, 0, decoded)
    decoded = whole && decodeHeader(whole)
  }
  if (decoded === null || typeof decoded === 'number') return null
  const { header, bytes } = decoded
  const { kinds } = layout
  const fits = header.columns.length === kinds.length && header.columns.every(({ kind }, at) => kind === kinds[at])
  if (!fits) return null
  if (header.net === undefined) return { path, name, header, from: bytes, net: null }
  const net = await openSegment(files, folder, header.net, layout)
  return net && { path, name, header, from: bytes, net }
}

type Packed = Uint8Array | Uint16Array | Uint32Array | Float64Array

/** Views bytes, which stand alone in their buffer, as an array of a type. */
function viewAs(type: NumberHeader['type'], bytes: Uint8Array): Packed {
  const { buffer, byteOffset, byteLength } = bytes
  if (type === 'u8') return bytes
  if (type === 'u16') return new Uint16Array(buffer, byteOffset, byteLength / 2)
  if (type === 'u32') return new Uint32Array(buffer, byteOffset, byteLength / 4)
  return new Float64Array(buffer, byteOffset, byteLength / 8)
}

/** A column's values, and its nulls. `section` holds the values in memory. */
interface LoadedColumn {
  readonly section: Uint8Array
  readonly values: Packed
  readonly nulls: Uint8Array | null
}

/** Reads sections of segments through the memory. */
export function createSegmentReader(files: Files, memory: SectionMemory) {
  const nameOf = ({ path }: Segment, { at }: Section) => `${path}#${at}`

  async function read(segment: Segment, section: Section): Promise<Uint8Array> {
    const name = nameOf(segment, section)
    const known = memory.section(name)
    if (known) return known
    const bytes = await files.read(segment.path, segment.from + section.at, section.bytes)
    if (bytes?.length !== section.bytes || checksumOf(bytes) !== section.checksum) throw new DamagedSegment(segment)
    memory.holdSection(name, bytes)
    return bytes
  }

  async function column(segment: Segment, header: NumberHeader | CodeHeader): Promise<LoadedColumn> {
    const nulls = header.kind === 'number' ? header.nulls : null
    const [values, flags] = await Promise.all([read(segment, header.values), nulls && read(segment, nulls)])
    return { section: values, values: viewAs(header.type, values), nulls: flags }
  }

  return {
    /** Whether these columns are in memory. */
    holds: ({ path, header }: Segment, columns: readonly number[]): boolean =>
      columns.every((index) => {
        const values = header.columns[index]?.values
        return values !== undefined && memory.section(`${path}#${values.at}`) !== null
      }),
    /** Loads columns of a segment. @throws DamagedSegment, FilesUnavailable */
    async load(segment: Segment, columns: readonly number[], dead: Uint32Array | null): Promise<ColumnSource> {
      const loaded = await Promise.all(
        columns.map(async (index): Promise<readonly [number, LoadedColumn]> => {
          const header = segment.header.columns[index]
          if (!header) throw new DamagedSegment(segment)
          return [index, await column(segment, header)]
        }),
      )
      return segmentSource(segment.header, new Map(loaded), dead)
    },
    /** The keys of a segment, ascending: `values` + `base`. @throws DamagedSegment, FilesUnavailable */
    async keys(segment: Segment): Promise<{ readonly values: Packed; readonly base: number }> {
      const { keys } = segment.header
      return { values: (await column(segment, keys)).values, base: keys.base }
    },
  }
}

export type SegmentReader = ReturnType<typeof createSegmentReader>

/** Bounds of the blocks of a section, as long as it is in memory: two numbers for each, without the base. */
const boundsOfSections = new WeakMap<Uint8Array, Float64Array>()

/** The bounds of all blocks of a column, found once for a section in memory. */
function blockBounds({ section, values }: LoadedColumn): Float64Array {
  const known = boundsOfSections.get(section)
  if (known) return known
  const bounds = new Float64Array(2 * Math.ceil(values.length / BLOCK_ROWS))
  for (let block = 0; 2 * block < bounds.length; block++) {
    let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
    const end = Math.min(values.length, (block + 1) * BLOCK_ROWS)
    for (let row = block * BLOCK_ROWS; row < end; row++) {
      const value = values[row] ?? 0
      if (value < min) min = value
      if (value > max) max = value
    }
    bounds[2 * block] = min
    bounds[2 * block + 1] = max
  }
  boundsOfSections.set(section, bounds)
  return bounds
}

function segmentSource(
  { rows, columns }: SegmentHeader,
  loaded: ReadonlyMap<number, LoadedColumn>,
  dead: Uint32Array | null,
): ColumnSource {
  const blockOf = (values: Packed, block: number) =>
    values.subarray(block * BLOCK_ROWS, Math.min(rows, (block + 1) * BLOCK_ROWS))
  const valuesOf = (index: number): Packed => {
    const found = loaded.get(index)
    if (!found) throw new Error(`Column ${index} is not loaded.`)
    return found.values
  }
  return {
    rows,
    dead,
    numbers(index, block, into) {
      const header = columns[index]
      const packed = blockOf(valuesOf(index), block)
      into.set(packed)
      const base = header?.kind === 'number' ? header.base : 0
      if (base !== 0) for (let row = 0; row < packed.length; row++) into[row] = (into[row] ?? 0) + base
      return into
    },
    bounds(index, block): Bounds | null {
      const [header, column] = [columns[index], loaded.get(index)]
      if (header?.kind !== 'number' || !column) return null
      const found = blockBounds(column)
      const [min = 0, max = 0] = [found[2 * block], found[2 * block + 1]]
      return { min: min + header.base, max: max + header.base }
    },
    nulls(index, block) {
      const nulls = loaded.get(index)?.nulls
      return nulls ? nulls.subarray(block * BLOCK_ROWS, (block + 1) * BLOCK_ROWS) : null
    },
    codes(index, block, into) {
      into.set(blockOf(valuesOf(index), block))
      return into
    },
    dictionary(index) {
      const header = columns[index]
      return header?.kind === 'code' ? header.dictionary : []
    },
  }
}
