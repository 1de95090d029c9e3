/** A part that fewer operations have stays where it is. */
const SHARED_BY = 2

/** Equal parts of operations, as components of one kind. */
export interface SharedParts {
  readonly components: Readonly<Record<string, object>>
  /** The reference to a part; the part itself where it is not shared. */
  readonly referenceTo: (part: object) => object
}

/**
 * Makes components of parts that occur more than once. The most frequent part of a name has it, the others are told apart
 * by a number.
 */
export function shareEqual(kind: string, parts: readonly (readonly [name: string, part: object])[]): SharedParts {
  const equal = Object.groupBy(parts, ([, part]) => JSON.stringify(part))
  const shared = Object.entries(equal).filter(([, uses = []]) => uses.length >= SHARED_BY)
  const byName = Object.groupBy(shared, ([, uses = []]) => uses[0]?.[0] ?? '')
  const names = new Map(
    Object.entries(byName).flatMap(([name, variants = []]) => {
      const byUse = variants.toSorted(([, one = []], [, other = []]) => other.length - one.length)
      return byUse.map(([text], index) => [text, index === 0 ? name : `${name}.${index + 1}`] as const)
    }),
  )
  return {
    components: Object.fromEntries([...names].map(([text, name]) => [name, JSON.parse(text)])),
    referenceTo(part) {
      const name = names.get(JSON.stringify(part))
      return name === undefined ? part : { $ref: `#/components/${kind}/${name}` }
    },
  }
}
