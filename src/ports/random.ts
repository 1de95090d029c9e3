/** Randomness as a port. */
export interface Random {
  /** Bytes fit for secrets. */
  bytes(count: number): Uint8Array
  /** An unsigned integer of 32 bits. */
  seed(): number
  /** A fresh UUIDv7, lower case. */
  uuid(): string
}
