const UUID_V7 = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** When a UUIDv7 was made (ms since the epoch, by its maker's clock); null for any other text. */
export function instantOfUuid(id: string): number | null {
  const parts = UUID_V7.exec(id)
  return parts && Number.parseInt(`${parts[1]}${parts[2]}`, 16)
}
