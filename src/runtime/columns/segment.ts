import type { Files } from '../../ports/files.ts'
import { checksumOf } from '../write/snapshots/checksum.ts'
import type { SectionMemory } from './column-memory.ts'
import { BLOCK_ROWS, type Bounds, type ColumnSource } from './column-source.ts'
import type { Layout } from './column-spec.ts'
import {
  type CodeHeader,
  constantOf,
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

type ColumnHeader = NumberHeader | CodeHeader

/** The sections of a column: its values, and its nulls where it has some. */
function sectionsOf(header: ColumnHeader): readonly Section[] {
  return header.kind === 'number' && header.nulls ? [header.values, header.nulls] : [header.values]
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

  /** The sections of a segment, by where they are: what is not in memory is read in one opening of its file. */
  async function read(segment: Segment, sections: readonly Section[]): Promise<ReadonlyMap<number, Uint8Array>> {
    const found = new Map<number, Uint8Array>()
    const missing: Section[] = []
    for (const section of sections) {
      const known = memory.section(nameOf(segment, section))
      if (known) found.set(section.at, known)
      else missing.push(section)
    }
    if (missing.length === 0) return found
    const parts = missing.map(({ at, bytes }) => ({ at: segment.from + at, bytes }))
    const read = await files.readParts(segment.path, parts)
    for (const [place, section] of missing.entries()) {
      const bytes = read?.[place]
      if (bytes?.length !== section.bytes || checksumOf(bytes) !== section.checksum) throw new DamagedSegment(segment)
      memory.holdSection(nameOf(segment, section), bytes)
      found.set(section.at, bytes)
    }
    return found
  }

  /** Loads columns of a segment, given by their headers; returns what gives each of them. */
  async function load(
    segment: Segment,
    headers: readonly ColumnHeader[],
  ): Promise<(header: ColumnHeader) => LoadedColumn> {
    const sections = await read(segment, headers.flatMap(sectionsOf))
    return (header) => {
      const [section, nulls = null] = sectionsOf(header).map(({ at }) => sections.get(at))
      if (!section) throw new DamagedSegment(segment)
      return { section, values: viewAs(header.type, section), nulls }
    }
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
      const headers = columns.map((index) => {
        const header = segment.header.columns[index]
        if (!header) throw new DamagedSegment(segment)
        return [index, header] as const
      })
      const columnOf = await load(
        segment,
        headers.map(([, header]) => header),
      )
      return segmentSource(segment.header, new Map(headers.map(([index, header]) => [index, columnOf(header)])), dead)
    },
    /** The keys of a segment, ascending: `values` + `base`. @throws DamagedSegment, FilesUnavailable */
    async keys(segment: Segment): Promise<{ readonly values: Packed; readonly base: number }> {
      const { keys } = segment.header
      const columnOf = await load(segment, [keys])
      return { values: columnOf(keys).values, base: keys.base }
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
  header: SegmentHeader,
  loaded: ReadonlyMap<number, LoadedColumn>,
  dead: Uint32Array | null,
): ColumnSource {
  const { rows, columns } = header
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
      const column = columns[index]
      const packed = blockOf(valuesOf(index), block)
      into.set(packed)
      const base = column?.kind === 'number' ? column.base : 0
      if (base !== 0) for (let row = 0; row < packed.length; row++) into[row] = (into[row] ?? 0) + base
      return into
    },
    constant: (index) => constantOf(header, index),
    bounds(index, block): Bounds | null {
      const [column, values] = [columns[index], loaded.get(index)]
      if (column?.kind !== 'number' || !values) return null
      const found = blockBounds(values)
      const [min = 0, max = 0] = [found[2 * block], found[2 * block + 1]]
      return { min: min + column.base, max: max + column.base }
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
      const column = columns[index]
      return column?.kind === 'code' ? column.dictionary : []
    },
  }
}
