import type { Files } from '../../ports/files.ts'
import { monthText } from './column-spec.ts'
import { type EncodedSegment, encodeSegment, orderByKey } from './encode-segment.ts'
import { netRows } from './net-rows.ts'
import type { RowBuffer } from './row-buffer.ts'
import type { Segment } from './segment.ts'

/** The same content always has the same name, so that a file is never replaced by another. */
const nameOf = ({ header, checksum }: EncodedSegment): string =>
  `${monthText(header.month)}-${checksum.toString(16).padStart(8, '0')}`

async function writeSegment(
  files: Files,
  folder: string,
  encoded: EncodedSegment,
  net: Segment | null = null,
): Promise<Segment> {
  const name = nameOf(encoded)
  const path = `${folder}/${name}`
  await files.write(path, encoded.parts)
  return { path, name, header: encoded.header, from: encoded.parts[0]?.length ?? 0, net }
}

/** Writes what rows within documents come to. @throws FilesUnavailable */
async function writeNet(
  files: Files,
  folder: string,
  month: number,
  buffer: RowBuffer,
  order: Uint32Array,
): Promise<Segment | null> {
  const { rows } = buffer.layout
  const net = rows && (await netRows(buffer, order, rows))
  if (!net || net.rows === 0) return null
  return writeSegment(files, folder, await encodeSegment(month, net, orderByKey(net)))
}

/** Writes rows of one month as segments of at most so many rows, each of equal keys' order. @throws FilesUnavailable */
export async function writeSegments(
  files: Files,
  folder: string,
  month: number,
  buffer: RowBuffer,
  segmentRows: number,
): Promise<readonly Segment[]> {
  const order = orderByKey(buffer)
  const count = Math.ceil(order.length / segmentRows)
  const size = Math.ceil(order.length / count)
  const segments: Segment[] = []
  for (let index = 0; index < count; index++) {
    const part = order.subarray(index * size, (index + 1) * size)
    const net = await writeNet(files, folder, month, buffer, part)
    segments.push(await writeSegment(files, folder, await encodeSegment(month, buffer, part, net?.name ?? null), net))
  }
  return segments
}
