import { crc32 } from 'node:zlib'

/** The columns of an event that its checksum covers: stream, revision, id, type, version, data, meta. */
export type ChecksummedColumns = readonly [string, number, string, string, number, string, string]

const SEPARATOR = '\0'

/** SQL of the checksum of the newest event. */
export const lastChecksumSql = 'SELECT checksum FROM events ORDER BY position DESC LIMIT 1'

/**
 * Checksum of an event: CRC-32 of its columns, continued from the checksum of the event before it in the log (0 for none). So a
 * changed byte is found, and an event that is missing between two others. It is no protection against forgery.
 */
export function checksumAfter(previous: number, columns: ChecksummedColumns): number {
  return crc32(columns.join(SEPARATOR), previous)
}
