import { z } from 'zod'
import { sha256 } from './fields.ts'
import { SECRET } from './limits.ts'

/** The stored form of an issued key's secret: its first characters, to recognise it, and its SHA-256. */
export const storedKey = z.object({ prefix: z.string().min(1).max(SECRET.prefix), hash: sha256 })

/** The prefix of a key before its rotation. */
export const previousPrefix = z.object({ prefix: z.string() })
