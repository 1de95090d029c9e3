/** First byte of a packed value. These numbers are the storage format of snapshots (`FORMAT` in head.ts). */
export const TAG = {
  null: 0,
  true: 1,
  false: 2,
  /** A whole number from 0. */
  whole: 3,
  /** A whole number below 0, as -1 - n. */
  below: 4,
  float: 5,
  text: 6,
  /** A text that UTF-8 cannot hold (lone surrogates), in UTF-16. */
  wide: 7,
  uuid: 8,
  /** An instant as ISO 8601 with milliseconds, in milliseconds since the epoch. */
  instant: 9,
  /** A text that is packed earlier, by its place. */
  same: 10,
  /** A text that contains UUIDs, in parts. */
  joined: 11,
  list: 12,
  /** A record: its field names, then its values. */
  record: 13,
  /** A record with the field names of an earlier one, by the place of those. */
  alike: 14,
  map: 15,
  set: 16,
  deleted: 17,
} as const

/** Bytes of a packed instant, in milliseconds since the epoch. */
export const INSTANT_BYTES = 6
/** Bytes of a packed UUID. */
export const UUID_BYTES = 16
