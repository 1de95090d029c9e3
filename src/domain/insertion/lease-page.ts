import { escapeKey } from '../../kernel/proto-key.ts'
import { isTagKey } from '../calls/tags.ts'
import { LEASE, POOL } from '../shared/limits.ts'
import type { PoolSettings } from '../supply/pool.ts'
import type { LeasePage } from './lease.ts'

type ParamRule = PoolSettings['params'][number]

/** A text of at most so many characters, without halves of characters. */
function cut(text: string, length: number): string {
  return text.slice(0, length).toWellFormed()
}

/** An address as it is kept: null for what is no text, or empty. */
function addressOf(sent: unknown): string | null {
  return typeof sent === 'string' && sent !== '' ? cut(sent, LEASE.url) : null
}

/** The value of a parameter: a scalar, or the first of a list, without spaces at its ends; null for anything else. */
function paramValue(sent: unknown): string | null {
  const first: unknown = Array.isArray(sent) ? sent[0] : sent
  if (typeof first !== 'string' && typeof first !== 'number' && typeof first !== 'boolean') return null
  return cut(String(first).trim(), LEASE.paramValue)
}

/** Parameters by their keys in lower case; of keys that differ in case alone, the first. Keys that no tag may have are left out. */
function paramsByKey(sent: unknown): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) return found
  for (const [name, given] of Object.entries(sent)) {
    const key = name.toLowerCase()
    const value = found.has(key) || !isTagKey(key) ? null : paramValue(given)
    if (value !== null) found.set(key, value)
  }
  return found
}

const covers = ({ key, prefix }: ParamRule, name: string) => (prefix ? name.startsWith(key) : name === key)

/**
 * The parameters that a pool keeps of those of a page, in the pool's order: those of one prefix as they were sent. Keys are as objects
 * hold them (`proto-key.ts`).
 */
export function keptParams(rules: readonly ParamRule[], sent: unknown): LeasePage['params'] {
  const params = rules.length === 0 ? new Map<string, string>() : paramsByKey(sent)
  const kept = new Map<string, string>()
  for (const rule of rules) {
    const named = rule.prefix ? [...params.keys()].filter((name) => covers(rule, name)) : [rule.key]
    for (const name of named) {
      const value = params.get(name)
      if (value !== undefined && kept.size < POOL.params) kept.set(escapeKey(name), value)
    }
  }
  return Object.fromEntries(kept)
}

/** The page of a lease, of what a browser sent; malformed parts are left out. */
export function leasePageOf(
  { url, referrer, params }: { readonly url?: unknown; readonly referrer?: unknown; readonly params?: unknown },
  rules: readonly ParamRule[],
): LeasePage {
  return { url: addressOf(url), referrer: addressOf(referrer), params: keptParams(rules, params) }
}
