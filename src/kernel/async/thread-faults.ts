/** An error on its way to another thread. */
export interface Fault {
  readonly name: string
  readonly message: string
  readonly stack: string | undefined
}

/** Classes of errors by name: a fault with the name becomes an error of the class. */
export type ErrorTypes = Readonly<Record<string, new (message: string) => Error>>

/** The error as plain data. */
export function faultOf(error: unknown): Fault {
  return error instanceof Error
    ? { name: error.name, message: error.message, stack: error.stack }
    : { name: 'Error', message: String(error), stack: undefined }
}

/** The error that a fault stands for: of its class where `types` has one, else an Error with its name. */
export function reviveError({ name, message, stack }: Fault, types: ErrorTypes): Error {
  const known = Object.hasOwn(types, name) ? types[name] : undefined
  const error = known ? new known(message) : name === 'TypeError' ? new TypeError(message) : renamed(message, name)
  return stack === undefined ? error : Object.assign(error, { stack })
}

const renamed = (message: string, name: string): Error => Object.assign(new Error(message), { name })
