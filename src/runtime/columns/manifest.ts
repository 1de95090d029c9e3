import { z } from 'zod'
import type { Files } from '../../ports/files.ts'
import { checksumOf } from '../write/snapshots/checksum.ts'
import type { Layout } from './column-spec.ts'
import { FORMAT } from './segment-header.ts'

const manifest = z.object({
  format: z.literal(FORMAT),
  /** Text of the layout. */
  layout: z.string(),
  /** Identity of the read store. */
  store: z.number(),
  collection: z.string(),
  workspaceId: z.string(),
  /** Every document that was folded up to this position is in the segments, as it was then or later. */
  coverage: z.number(),
  segments: z.array(z.string()),
})

/** The segments that are the columns of a workspace together. Segments that it does not name do not count. */
export type Manifest = Readonly<z.infer<typeof manifest>>

/** Name of its file. */
export const MANIFEST = 'manifest'

/** The folder of a workspace in a build. */
export function folderOf(collection: string, workspaceId: string): string {
  return `${encodeURIComponent(collection)}/w-${encodeURIComponent(workspaceId)}`
}

/** Replaces the manifest of a workspace. @throws FilesUnavailable */
export async function writeManifest(
  files: Files,
  { text }: Layout,
  named: Omit<Manifest, 'format' | 'layout'>,
): Promise<void> {
  const json = Buffer.from(JSON.stringify({ format: FORMAT, layout: text, ...named }))
  const head = Buffer.from(`${checksumOf(json)}\n`)
  await files.write(`${folderOf(named.collection, named.workspaceId)}/${MANIFEST}`, [head, json])
}

/** Reads a manifest; null when it is missing, damaged, or of another format or layout. @throws FilesUnavailable */
export async function readManifest(
  files: Files,
  { text }: Layout,
  wanted: Pick<Manifest, 'collection' | 'workspaceId'>,
): Promise<Manifest | null> {
  const bytes = await files.read(`${folderOf(wanted.collection, wanted.workspaceId)}/${MANIFEST}`)
  if (!bytes) return null
  const end = bytes.indexOf(0x0a)
  const json = bytes.subarray(end + 1)
  if (end < 0 || Buffer.from(bytes.subarray(0, end)).toString() !== String(checksumOf(json))) return null
  const parsed = manifest.safeParse(JSON.parse(Buffer.from(json).toString()))
  if (!parsed.success) return null
  const { layout, collection, workspaceId } = parsed.data
  const isWanted = layout === text && collection === wanted.collection && workspaceId === wanted.workspaceId
  return isWanted ? parsed.data : null
}
