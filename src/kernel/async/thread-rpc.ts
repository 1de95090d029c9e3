import { createInFlight } from '../in-flight.ts'
import { collectPerTick } from './batch-per-tick.ts'
import { type ErrorTypes, type Fault, faultOf, reviveError } from './thread-faults.ts'

/** The part of a MessagePort (or of a Worker, or of its parentPort) that the protocol needs. */
export interface Channel {
  postMessage(message: unknown, transfer?: readonly ArrayBuffer[]): void
  on(event: 'message', listener: (message: unknown) => void): unknown
  on(event: 'close', listener: () => void): unknown
}

/** Functions of at most one argument, by name. */
export type Handlers = Readonly<Record<string, (argument: never) => unknown>>

/** The handlers of another thread, each as an async function of the same argument. */
export type Remote<H extends Handlers> = {
  readonly [K in keyof H & string]: (...argument: Parameters<H[K]>) => Promise<Awaited<ReturnType<H[K]>>>
}

/** The handlers of another thread, each as a function of the same argument that nobody answers. */
export type Notifications<H extends Handlers> = {
  readonly [K in keyof H & string]: (...argument: Parameters<H[K]>) => void
}

/** A request as it travels; ids are unique within their channel, null where nobody waits for a reply. */
export type RpcCall = readonly [id: number | null, method: string, argument: unknown]
/** The reply to a request, in any order. */
export type RpcReply = readonly [id: number, ok: true, value: unknown] | readonly [id: number, ok: false, error: Fault]

/** Buffers that can be transferred instead of copied: a value of bytes, or bytes one level inside it. */
function buffersOf(value: unknown): readonly ArrayBuffer[] {
  const whole = (one: unknown): readonly ArrayBuffer[] =>
    one instanceof Uint8Array && one.buffer instanceof ArrayBuffer && one.byteLength === one.buffer.byteLength
      ? [one.buffer]
      : []
  if (typeof value !== 'object' || value === null) return []
  return value instanceof Uint8Array ? whole(value) : Object.values(value).flatMap(whole)
}

/** Maximum calls or replies per message: each wakes a thread, and small batches keep both threads busy. */
const CHUNK = 32

/**
 * Serves the handlers over a channel. Bytes in a result are transferred, so a handler must not keep them.
 * A handler's error travels with name, message and stack.
 */
export function serveRpc<H extends Handlers>(channel: Channel, handlers: H): void {
  const send = collectPerTick<RpcReply>((replies) => {
    const buffers = replies.flatMap((reply) => (reply[1] ? buffersOf(reply[2]) : []))
    channel.postMessage(replies, [...new Set(buffers)])
  }, CHUNK)
  const reply = async ([id, method, argument]: RpcCall) => {
    try {
      const handler = Object.hasOwn(handlers, method) ? handlers[method] : undefined
      if (!handler) throw new TypeError(`No handler is named ${method}.`)
      const result = await handler(argument as never)
      if (id !== null) send([id, true, result])
    } catch (error) {
      if (id !== null) send([id, false, faultOf(error)])
    }
  }
  let waiting: readonly RpcCall[] = []
  const replyToSome = () => {
    const calls = waiting.slice(0, CHUNK)
    waiting = waiting.slice(CHUNK)
    for (const call of calls) void reply(call)
    if (waiting.length > 0) setImmediate(replyToSome)
  }
  channel.on('message', (message) => {
    const calls = message as readonly RpcCall[]
    if (waiting.length > 0) waiting = [...waiting, ...calls]
    else {
      waiting = calls
      replyToSome()
    }
  })
}

/**
 * Connects to the handlers that `serveRpc` serves at the other end of the channel. Calls of one event-loop turn travel
 * together. A remote error is rebuilt with the class that `errors` has for its name. When the channel closes, pending
 * and later calls reject with `closedError()`.
 */
export function connectRpc<H extends Handlers>(
  channel: Channel,
  closedError: () => Error,
  errors: ErrorTypes = {},
): Remote<H> {
  const pending = createInFlight<
    number,
    { readonly resolve: (value: never) => void; readonly reject: (error: Error) => void }
  >()
  const send = collectPerTick<RpcCall>((calls) => channel.postMessage(calls), CHUNK)
  let last = 0
  let open = true
  channel.on('message', (message) => {
    for (const [id, ok, value] of message as readonly RpcReply[]) {
      const caller = pending.get(id)
      pending.delete(id)
      if (ok) caller?.resolve(value as never)
      else caller?.reject(reviveError(value, errors))
    }
  })
  channel.on('close', () => {
    open = false
    for (const { reject } of pending.values()) reject(closedError())
    pending.clear()
  })
  const call = (method: string, argument: unknown) =>
    new Promise((resolve, reject) => {
      if (!open) return reject(closedError())
      last += 1
      pending.set(last, { resolve, reject })
      send([last, method, argument])
    })
  return byMethod<Remote<H>>((method) => (argument: unknown) => call(method, argument))
}

/** An object that has a function for every name. */
function byMethod<Methods extends object>(of: (method: string) => (argument: unknown) => unknown): Methods {
  return new Proxy({} as Methods, {
    // `then` stays undefined: an object with it would be taken for a promise when an async function returns it.
    get: (_target, method) => (typeof method === 'string' && method !== 'then' ? of(method) : undefined),
  })
}

/**
 * Notifies the handlers that `serveRpc` serves at the other end of the channel: half the messages of a call. What a handler
 * throws is dropped there, and so is a notification once the channel has closed. Those of one event-loop turn travel together.
 */
export function notifyRpc<H extends Handlers>(channel: Pick<Channel, 'postMessage'>): Notifications<H> {
  const send = collectPerTick<RpcCall>((calls) => channel.postMessage(calls), CHUNK)
  return byMethod<Notifications<H>>((method) => (argument: unknown) => send([null, method, argument]))
}
