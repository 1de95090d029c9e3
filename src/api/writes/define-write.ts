import type { z } from 'zod'
import type { AnyCommand } from '../../kernel/command.ts'
import type { AnyQuery } from '../../kernel/query.ts'
import { isRefusal, type Refusal } from '../../kernel/refusal.ts'
import type { QueryPorts } from '../../ports/query-ports.ts'
import { READ_LAG_HEADER } from '../read-your-writes.ts'
import type { CommandOutcome, WriteContext } from './write-context.ts'
import type { WriteResponse } from './write-progress.ts'
import { defineWriteRoute, type RouteDeclaration, type Write } from './write-route.ts'

type InputOf<C extends AnyCommand> = z.output<C['input']>
type ParamsOf<Q extends AnyQuery<QueryPorts>> = z.output<Q['params']>
type AnswerOf<Q extends AnyQuery<QueryPorts>> = z.output<Q['response']>
type MaybePromise<Value> = Value | Promise<Value>

/** A request before its command. */
interface WriteRequest<Params, Body> {
  readonly params: Params
  readonly body: Body
  /** The secret that `issue` made; empty where the write issues none. */
  readonly secret: string
  readonly context: WriteContext<Params, Body>
}

/** A request after its command and the effects of it. */
interface ExecutedWrite<Params, Body, C extends AnyCommand> extends WriteRequest<Params, Body> {
  readonly outcome: CommandOutcome<C['entity']['events']>
}

/** A request after the query that answers it. */
interface AnsweredWrite<Params, Body, C extends AnyCommand, Q extends AnyQuery<QueryPorts>>
  extends ExecutedWrite<Params, Body, C> {
  readonly answer: AnswerOf<Q>
}

/** A write as data: a route, the command that it executes, the query that answers it, and the response made of both. */
interface WriteDefinition<Params, Body, C extends AnyCommand, Q extends AnyQuery<QueryPorts>>
  extends RouteDeclaration<Params, Body, unknown> {
  readonly command: C
  /** Issues a secret that the command stores in part and the response shows once. */
  readonly issue?: (context: WriteContext<NoInfer<Params>, NoInfer<Body>>) => Promise<string | Refusal>
  /** The command's input. */
  readonly input: (
    received: WriteRequest<NoInfer<Params>, NoInfer<Body>>,
  ) => MaybePromise<NoInfer<InputOf<C>> | Refusal>
  /** The fields of the response that show the issued secret; answered too when the record cannot be read back. */
  readonly reveal?: (
    executed: ExecutedWrite<NoInfer<Params>, NoInfer<Body>, NoInfer<C>>,
  ) => Readonly<Record<string, unknown>>
  /** Whether the effects that reactions would run later are run before the response. */
  readonly runsEffects?: boolean
  /** The query that reads what the command wrote; left out where the response needs none. */
  readonly answer?: {
    readonly query: Q
    readonly params: (executed: ExecutedWrite<NoInfer<Params>, NoInfer<Body>, NoInfer<C>>) => NoInfer<ParamsOf<Q>>
  }
  /** The response's status; by default the one status that `responses` declares. */
  readonly status?: (executed: ExecutedWrite<NoInfer<Params>, NoInfer<Body>, NoInfer<C>>) => number
  /** The response's body beside what `reveal` shows; by default the answer of the query, or none. */
  readonly respond?: (
    answered: AnsweredWrite<NoInfer<Params>, NoInfer<Body>, NoInfer<C>, NoInfer<Q>>,
  ) => MaybePromise<WriteResponse['body'] | Refusal>
}

/** The procedure of a write: issue → input → execute (and prefetch the query) → reveal → run effects → query → respond. The first refusal ends it. */
function procedureOf<Params, Body, C extends AnyCommand, Q extends AnyQuery<QueryPorts>>({
  command,
  responses,
  issue,
  input,
  reveal,
  runsEffects = false,
  answer,
  status = () => Number(Object.keys(responses)[0]),
  respond,
}: WriteDefinition<Params, Body, C, Q>) {
  return async (context: WriteContext<Params, Body>): Promise<WriteResponse | Refusal> => {
    const { params, body } = context
    const secret = issue ? await issue(context) : ''
    if (isRefusal(secret)) return secret
    const received = { params, body, secret, context }
    const commandInput = await input(received)
    if (isRefusal(commandInput)) return commandInput
    const onDecided = (expected: CommandOutcome<C['entity']['events']>) => {
      if (answer) context.prefetch(answer.query, answer.params({ ...received, outcome: expected }), expected.events)
    }
    const outcome = await context.execute(command, commandInput, answer && !runsEffects ? { onDecided } : {})
    if (isRefusal(outcome)) return outcome
    const executed = { ...received, outcome }
    const revealed = reveal?.(executed)
    const successStatus = status(executed)
    context.setPartialResponse({ status: successStatus, body: revealed ?? {} })
    if (runsEffects) await context.runEffects()
    const found = answer ? await context.query(answer.query, answer.params(executed)) : null
    if (isRefusal(found)) {
      // What has been written and is not found yet is no refusal of the write.
      return outcome.changed ? { status: successStatus, body: revealed ?? {}, headers: READ_LAG_HEADER } : found
    }
    const responseBody = respond ? await respond({ ...executed, answer: found }) : found
    if (isRefusal(responseBody)) return responseBody
    return { status: successStatus, body: revealed ? { ...responseBody, ...revealed } : responseBody }
  }
}

/** Defines a write. Its command's refusals are declared with it; `rejects` adds those of its other steps. */
export function defineWrite<Params, Body, C extends AnyCommand, Q extends AnyQuery<QueryPorts> = never>(
  definition: WriteDefinition<Params, Body, C, Q>,
): Write {
  const { command, rejects = [] } = definition
  return defineWriteRoute({
    ...definition,
    rejects: [...new Set([...command.rejects, ...rejects])],
    run: procedureOf(definition),
  })
}
