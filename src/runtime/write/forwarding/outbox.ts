import { collectPerTick } from '../../../kernel/async/batch-per-tick.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Peer, PeerClient } from '../../../ports/peers.ts'
import { readAnswers } from './answer-commands.ts'
import { type Answer, type ForwardedCommand, MESSAGE_BYTES, MESSAGE_COMMANDS } from './messages.ts'

/** How long a peer may take for an answer (ms): a write that waits longer is decided here. */
export const ANSWER_MS = 2_000
/** Messages under way to one peer for one kind of stream. What comes in meanwhile goes together. */
export const UNDER_WAY = 4
/** Commands that wait for one peer and kind; above that, commands are decided here. */
export const WAITING = 4_096
/** Bytes of a message beside its commands: version, brackets. */
const FRAME_BYTES = 1_024

interface Waiting {
  readonly json: string
  readonly bytes: number
  readonly resolve: (answer: Answer) => void
}

/**
 * The commands for one peer on one kind of stream: the peer decides those of a message in one turn or two, so that none waits
 * for the answer to another.
 */
interface Line {
  readonly key: string
  readonly peer: Peer
  readonly waiting: Waiting[]
  underWay: number
  readonly wake: (line: Line) => void
}

/** Sends commands to peers, many in one message. */
export interface Outbox {
  /** `kind`: of the command's stream. Resolves to the peer's answer; null where there is none: it is unknown whether the peer has decided the command. */
  readonly send: (peer: Peer, kind: string, command: ForwardedCommand) => Promise<Answer>
}

/** Takes as many commands as fit into one message: one at least. */
function takeMessage(waiting: Waiting[]): readonly Waiting[] {
  let bytes = FRAME_BYTES
  let count = 0
  for (const { bytes: its } of waiting.slice(0, MESSAGE_COMMANDS)) {
    bytes += its + 1
    if (count > 0 && bytes > MESSAGE_BYTES) break
    count += 1
  }
  return waiting.splice(0, count)
}

/**
 * Creates the outbox of a process. `onAnswer` hears of each peer that answered, `onFailure` of each that did not, or that has
 * code of another version.
 */
export function createOutbox(options: {
  readonly client: Pick<PeerClient, 'send'>
  readonly clock: Clock
  /** That of this process's code. */
  readonly version: string
  readonly onAnswer: (peer: Peer) => void
  readonly onFailure: (peer: Peer) => void
}): Outbox {
  const { client, clock, version, onAnswer, onFailure } = options
  const lines = new Map<string, Line>()

  async function exchange(peer: Peer, commands: readonly Waiting[]): Promise<readonly Answer[] | null> {
    const late = new AbortController()
    const cancel = clock.schedule(clock.now() + ANSWER_MS, () => late.abort())
    try {
      const message = `{"version":${JSON.stringify(version)},"commands":[${commands.map(({ json }) => json).join(',')}]}`
      return readAnswers(await client.send(peer, message, late.signal))
    } catch {
      return null
    } finally {
      cancel()
    }
  }

  async function sendNext(line: Line): Promise<void> {
    line.underWay += 1
    const commands = takeMessage(line.waiting)
    const answers = await exchange(line.peer, commands)
    line.underWay -= 1
    // Those that have not been sent are decided here as well: the peer would keep them waiting for nothing.
    const failed = answers ? [] : line.waiting.splice(0)
    if (answers) onAnswer(line.peer)
    else onFailure(line.peer)
    for (const [n, { resolve }] of commands.entries()) resolve(answers?.[n] ?? null)
    for (const { resolve } of failed) resolve(null)
    advance(line)
  }

  function advance(line: Line): void {
    while (line.waiting.length > 0 && line.underWay < UNDER_WAY) void sendNext(line)
    if (line.waiting.length === 0 && line.underWay === 0) lines.delete(line.key)
  }

  function lineTo(peer: Peer, kind: string): Line {
    const key = `${kind} ${peer.owner}`
    const line = lines.get(key) ?? {
      key,
      peer,
      waiting: [],
      underWay: 0,
      wake: collectPerTick(([first]) => first && advance(first)),
    }
    lines.set(key, line)
    return line
  }

  return {
    send(peer, kind, command) {
      const json = JSON.stringify(command)
      const bytes = Buffer.byteLength(json)
      if (bytes + FRAME_BYTES > MESSAGE_BYTES) return Promise.resolve(null)
      const line = lineTo(peer, kind)
      if (line.waiting.length >= WAITING) return Promise.resolve(null)
      return new Promise((resolve) => {
        line.waiting.push({ json, bytes, resolve })
        line.wake(line)
      })
    },
  }
}
