import type { EventStoreDBClient } from '@eventstore/db-client'
import { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import { type AppendResponse, appendResponseOf, type ReadMessage, readMessageOf } from './responses.ts'

const SERVICE = '/event_store.client.streams.Streams'

/** A call whose messages arrive as `data`; `error` and `end` follow. Cancelling it emits nothing that a listener sees. */
export interface ServerCall<Message> {
  onData(listener: (message: Message) => void): void
  /** `error` is null at a regular end. Called once. */
  onEnd(listener: (error: Error | null) => void): void
  pause(): void
  resume(): void
  cancel(): void
}

/** A call that takes messages too. */
export interface BatchCall extends ServerCall<AppendResponse> {
  write(request: Buffer): void
}

/** Options of a read. */
export interface ReadOptions {
  readonly requiresLeader?: boolean
}

/** Calls of the server's streams service over the client's channel. */
export interface StreamsService {
  /**
   * Starts a read or a subscription, which `requests.ts` builds. Only the leader of a cluster answers one that requires it.
   * @throws when there is no way to the server
   */
  read(request: Buffer, options?: ReadOptions): Promise<ServerCall<ReadMessage>>
  /** Starts a batch of appends, each built by `requests.ts`. @throws when there is no way to the server */
  appendBatch(): Promise<BatchCall>
  /** Cancels every call and closes the channel. */
  close(): void
}

/** What we use of the client besides its declared methods. Its version is pinned in `package.json`. */
interface ClientInternals {
  getGRPCClient(service: typeof StreamsClient, name: string): Promise<StreamsClient>
  callArguments(options: ReadOptions, callOptions: { readonly deadline: number }): CallArguments
  /** Opens another channel for later calls, to another node if the error names one, when the error says so. */
  handleError(service: StreamsClient, error: Error): Promise<void>
}

type GrpcCall = ReturnType<typeof startBatch> | ReturnType<typeof startRead>

/**
 * Opens the service. We encode and decode the messages ourselves: the client's way of doing it takes three times the CPU, its
 * reads take no filter, its subscriptions do not say in which order events and checkpoints came, and its batches end the
 * process when the server dies.
 */
export function openStreamsService(client: EventStoreDBClient): StreamsService {
  const internals = client as unknown as ClientInternals
  const open = new Set<{ cancel(): void }>()
  let closed = false

  async function start<Call extends GrpcCall>(
    begin: (service: StreamsClient, args: CallArguments) => Call,
    options: ReadOptions = {},
  ) {
    const service = await internals.getGRPCClient(StreamsClient, 'streams')
    if (closed) throw new Error('The event log was closed.')
    const call = begin(service, internals.callArguments(options, { deadline: Infinity }))
    return { service, call }
  }

  function serve<Message>(service: StreamsClient, call: GrpcCall): ServerCall<Message> {
    let isCancelled = false
    let end: (error: Error | null) => void = () => {}
    const served = {
      onData: (listener: (message: Message) => void) => void call.on('data', listener),
      onEnd(listener: (error: Error | null) => void) {
        end = listener
      },
      pause: () => void call.pause(),
      resume: () => void call.resume(),
      cancel() {
        isCancelled = true
        open.delete(served)
        call.cancel()
      },
    }
    const finish = (error: Error | null) => {
      open.delete(served)
      if (!isCancelled) end(error)
    }
    let hasFailed = false
    call.on('error', (error: Error) => {
      if (isCancelled || hasFailed) return
      hasFailed = true
      // The client must have changed its channel before anyone tries again.
      void internals.handleError(service, error).finally(() => finish(error))
    })
    call.on('end', () => {
      if (!hasFailed) finish(null)
    })
    open.add(served)
    return served
  }

  return {
    async read(request, options) {
      const { service, call } = await start((grpc, args) => startRead(grpc, request, args), options)
      return serve(service, call)
    },
    async appendBatch() {
      const { service, call } = await start(startBatch)
      return { ...serve<AppendResponse>(service, call), write: (request) => void call.write(request) }
    },
    close() {
      closed = true
      for (const call of [...open]) call.cancel()
      internals.getGRPCClient(StreamsClient, 'streams').then(
        (service) => service.close(),
        () => {},
      )
    },
  }
}

/** Metadata and options of a call. */
type CallArguments = Required<Parameters<StreamsClient['batchAppend']>>

function startRead(service: StreamsClient, request: Buffer, [metadata, options]: CallArguments) {
  return service.makeServerStreamRequest(`${SERVICE}/Read`, sameBytes, readMessageOf, request, metadata, options)
}

function startBatch(service: StreamsClient, [metadata, options]: CallArguments) {
  return service.makeBidiStreamRequest(`${SERVICE}/BatchAppend`, sameBytes, appendResponseOf, metadata, options)
}

const sameBytes = (bytes: Buffer): Buffer => bytes
