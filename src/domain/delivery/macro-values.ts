import { unescapeKey } from '../../kernel/proto-key.ts'
import { createCallerMask } from '../shared/caller-macros.ts'
import { verbatim } from '../shared/escaping.ts'
import { type MacroValues, presentValues } from '../shared/macros.ts'
import { fieldOf, MACROS, type Macro, type MacroSource, macroSubject } from './macro-vocabulary.ts'
import type { Envelope } from './webhook-events.ts'

function tagsOf(envelope: Envelope): readonly (readonly [name: string, value: string])[] {
  const tags = fieldOf(envelope, 'tags')
  if (typeof tags !== 'object' || tags === null) return []
  return Object.entries(tags).flatMap(([key, value]) =>
    typeof value === 'string' ? [[`tag.${unescapeKey(key)}`, value] as const] : [],
  )
}

/**
 * Values of a delivery's macros, for a URL, or for a header or body. A caller's number never reaches a URL: the hash stands in its
 * place, and in that of a tag, or another text of a publisher, that contains its ten digits.
 */
export function macroValues(source: MacroSource, inUrl: boolean): MacroValues {
  const subject = macroSubject(source)
  const { 'caller.e164': e164 = null, 'caller.hash': hash = null } = subject.caller
  const mask = inUrl ? createCallerMask({ e164, hash }) : verbatim
  const sent: Readonly<Record<Macro['inUrl'], (value: string) => string | null>> = {
    plain: verbatim,
    hashed: inUrl ? () => hash : verbatim,
    masked: mask,
  }
  const named = MACROS.map(({ name, inUrl: form, value }) => {
    const real = value(subject)
    return [name, real === null ? null : sent[form](real)] as const
  })
  const tagged = tagsOf(source.envelope).map(([name, value]) => [name, mask(value)] as const)
  return presentValues(Object.fromEntries([...tagged, ...named]))
}
