const PREFIX = '#/components/schemas/'

/** The schema of a reference. */
export const referenceTo = (name: string) => ({ $ref: `${PREFIX}${name}` })

/** The name that a reference to a schema has. */
export const nameOf = (reference: string): string => reference.slice(PREFIX.length)

/** `set-lane` as `SetLane`. */
export function pascalCase(name: string): string {
  return name.replaceAll(/(?:^|[-._ ])(\w)/g, (_match, letter: string) => letter.toUpperCase())
}

/**
 * Initials of the words of a name: `c` for `conflict`, `rp` for `RateLimit-Policy`, `ri` for `svc-request-id`. Names of
 * components that every operation refers to are short, since the references make up much of the document.
 */
export function initials(name: string): string {
  return name
    .toLowerCase()
    .replace('svc-', '')
    .split(/[-_]/)
    .map((word) => word[0])
    .join('')
}
