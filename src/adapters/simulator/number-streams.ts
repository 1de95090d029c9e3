import type { Command } from '../../kernel/command.ts'
import { fold, streamOf } from '../../kernel/entity.ts'
import { isRefusal } from '../../kernel/refusal.ts'
import { CarrierRefused, type OfferedNumber } from '../../ports/carrier-numbers.ts'
import type { CommandHandler } from '../../ports/command-handler.ts'
import type { EventLog } from '../../ports/event-log.ts'
import {
  numberStreamId,
  type SimulatedNumberState,
  simulatedNumber,
  type simulatedNumberEvents,
} from './simulated-number.ts'

export interface NumberStreamPorts {
  readonly log: Pick<EventLog, 'read'>
  readonly writer: Pick<CommandHandler, 'handle'>
}

/** Reads a number. A search reads hundreds, so they are not kept in the writer's mailboxes. @throws LogUnavailable */
export async function readNumber({ log }: NumberStreamPorts, e164: string): Promise<SimulatedNumberState> {
  return fold(simulatedNumber, await log.read(streamOf(simulatedNumber, numberStreamId(e164)), 0))
}

/** Runs a command on a number; `workspaceId` is empty where none is known. @throws LogUnavailable */
export async function runNumberCommand<Input extends { readonly commandId: string }>(
  { writer }: NumberStreamPorts,
  command: Command<Input, SimulatedNumberState, typeof simulatedNumberEvents>,
  input: Input,
  workspaceId: string,
): Promise<void> {
  const { commandId } = input
  const result = await writer.handle(command, input, {
    workspaceId,
    actor: { type: 'carrier', id: null, name: 'Simulated carrier' },
    commandId,
    correlationId: commandId,
    causationId: null,
    surface: 'carrier',
    ip: null,
  })
  if (isRefusal(result)) throw new CarrierRefused(result.refused)
}

/** The first `limit` numbers that nobody rents. */
export async function availableNumbers(
  ports: NumberStreamPorts,
  numbers: Iterable<OfferedNumber>,
  limit: number,
): Promise<readonly OfferedNumber[]> {
  const available: OfferedNumber[] = []
  let unread: OfferedNumber[] = []
  const readStates = async () => {
    const states = await Promise.all(unread.map(({ e164 }) => readNumber(ports, e164)))
    available.push(...unread.filter((_, n) => !states[n]?.rented))
    unread = []
  }
  for (const number of numbers) {
    unread.push(number)
    if (available.length + unread.length >= limit) await readStates()
    if (available.length >= limit) break
  }
  await readStates()
  return available.slice(0, limit)
}
