/** Randomness as a port. */
export interface Random {
  /** Cryptographically secure random bytes. */
  bytes(count: number): Uint8Array
  /** An unsigned integer of 32 bits. */
  seed(): number
  /** A new UUIDv7, in lower case. */
  uuid(): string
  /** A new ULID. */
  ulid(): string
}
