import { LogUnavailable } from '../ports/event-log.ts'
import { StoreUnavailable } from '../ports/read-store.ts'

/** The part of a MessagePort (or of a Worker, or of its parentPort) that calls travel over. */
export interface Channel {
  postMessage(message: unknown, transfer?: readonly ArrayBuffer[]): void
  on(event: 'message', listener: (message: unknown) => void): unknown
  on(event: 'close', listener: () => void): unknown
}

type Handlers = Readonly<Record<string, (argument: never) => unknown>>

/** Calls into another thread: each handler as an async function of one argument. */
export type Remote<H extends Handlers> = {
  readonly [K in keyof H & string]: (argument: Parameters<H[K]>[0]) => Promise<Awaited<ReturnType<H[K]>>>
}

type Call = readonly [id: number, method: string, argument: unknown]
type Reply = readonly [id: number, ok: true, value: unknown] | readonly [id: number, ok: false, error: Fault]

interface Fault {
  readonly name: string
  readonly message: string
  readonly stack: string | undefined
}

const restore: Readonly<Record<string, (message: string) => Error>> = {
  LogUnavailable: (message) => new LogUnavailable(message),
  StoreUnavailable: (message) => new StoreUnavailable(message),
  TypeError: (message) => new TypeError(message),
}

function faultOf(error: unknown): Fault {
  return error instanceof Error
    ? { name: error.name, message: error.message, stack: error.stack }
    : { name: 'Error', message: String(error), stack: undefined }
}

function errorOf(fault: Fault): Error {
  const error = restore[fault.name]?.(fault.message) ?? Object.assign(new Error(fault.message), { name: fault.name })
  return fault.stack === undefined ? error : Object.assign(error, { stack: fault.stack })
}

/** Buffers that may be handed over instead of copied: an answer of bytes, or bytes one level inside it. */
function buffersOf(value: unknown): readonly ArrayBuffer[] {
  const whole = (one: unknown): readonly ArrayBuffer[] =>
    one instanceof Uint8Array && one.buffer instanceof ArrayBuffer && one.byteLength === one.buffer.byteLength
      ? [one.buffer]
      : []
  if (typeof value !== 'object' || value === null) return []
  return value instanceof Uint8Array ? whole(value) : Object.values(value).flatMap(whole)
}

/** So many travel or are answered together at the most: meanwhile the other thread is at work on those before. */
const CHUNK = 8

/** Sends what one turn of the event loop gathers, a chunk at a time. */
function outbox<Item>(channel: Channel, buffers: (item: Item) => readonly ArrayBuffer[]): (item: Item) => void {
  let waiting: Item[] = []
  const flush = () => {
    if (waiting.length === 0) return
    const items = waiting
    waiting = []
    channel.postMessage(items, [...new Set(items.flatMap(buffers))])
  }
  return (item) => {
    if (waiting.push(item) === 1) setImmediate(flush)
    else if (waiting.length === CHUNK) flush()
  }
}

/** Answers calls that come over the channel. Bytes in an answer are handed over, so handlers must not keep them. */
export function serveRpc<H extends Handlers>(channel: Channel, handlers: H): void {
  const send = outbox<Reply>(channel, (reply) => (reply[1] ? buffersOf(reply[2]) : []))
  const answer = async ([id, method, argument]: Call) => {
    try {
      const handler = Object.hasOwn(handlers, method) ? handlers[method] : undefined
      if (!handler) throw new TypeError(`No call is named ${method}.`)
      send([id, true, await handler(argument as never)])
    } catch (error) {
      send([id, false, faultOf(error)])
    }
  }
  let waiting: readonly Call[] = []
  const answerSome = () => {
    const calls = waiting.slice(0, CHUNK)
    waiting = waiting.slice(CHUNK)
    for (const call of calls) void answer(call)
    if (waiting.length > 0) setImmediate(answerSome)
  }
  channel.on('message', (message) => {
    const calls = message as readonly Call[]
    if (waiting.length > 0) waiting = [...waiting, ...calls]
    else {
      waiting = calls
      answerSome()
    }
  })
}

/**
 * Calls what `serveCalls` serves at the channel's other end. An error arrives with its name, LogUnavailable and
 * StoreUnavailable as themselves. When the channel closes, what waits and what comes after fails with `gone()`.
 */
export function connectRpc<H extends Handlers>(channel: Channel, gone: () => Error): Remote<H> {
  const waiting = new Map<
    number,
    { readonly resolve: (value: never) => void; readonly reject: (error: Error) => void }
  >()
  const send = outbox<Call>(channel, () => [])
  let last = 0
  let open = true
  channel.on('message', (message) => {
    for (const [id, ok, value] of message as readonly Reply[]) {
      const caller = waiting.get(id)
      waiting.delete(id)
      if (ok) caller?.resolve(value as never)
      else caller?.reject(errorOf(value))
    }
  })
  channel.on('close', () => {
    open = false
    for (const { reject } of waiting.values()) reject(gone())
    waiting.clear()
  })
  const call = (method: string, argument: unknown) =>
    new Promise((resolve, reject) => {
      if (!open) return reject(gone())
      last += 1
      waiting.set(last, { resolve, reject })
      send([last, method, argument])
    })
  return new Proxy({} as Remote<H>, {
    // Not a thenable, so that it can be returned from an async function.
    get: (_target, method) =>
      typeof method === 'string' && method !== 'then' ? (argument: unknown) => call(method, argument) : undefined,
  })
}
