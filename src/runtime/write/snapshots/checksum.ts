import { crc32 } from 'node:zlib'

/** CRC-32 of bytes: finds what was cut, mixed up or damaged on its way; it is no protection against forgery. */
export function checksumOf(bytes: Uint8Array): number {
  return crc32(bytes)
}
