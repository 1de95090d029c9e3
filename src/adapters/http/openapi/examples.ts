/** Bodies that can be sent as they are, by the name of their operation. */
const bodies: Readonly<Record<string, unknown>> = {}

/** Example of an operation's body. */
export function exampleOf(name: string): unknown {
  return bodies[name]
}
