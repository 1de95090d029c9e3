import { z } from 'zod'
import type { RecordedEvent } from '../kernel/event.ts'
import { type EventLog, START } from '../ports/event-log.ts'
import type { MasterKey, MasterKeys } from './config.ts'
import { masterKeysOf, otherKeyError } from './master-keys.ts'
import { isFirstFormat, unsealFirstFormat } from './secrets.ts'

const PAGE = 1_000

/** The sealed values of a target's settings. */
const targetSecrets = z
  .object({
    rtb: z.object({ bidHeaders: z.record(z.string(), z.string()) }).nullish(),
    endpoint: z.object({ sipSecret: z.object({ sealed: z.string() }).nullish() }).nullish(),
  })
  .transform(({ rtb, endpoint }) => [...Object.values(rtb?.bidHeaders ?? {}), endpoint?.sipSecret?.sealed ?? ''])
const tokenSecrets = z.object({ token: z.object({ sealed: z.string() }) }).transform(({ token }) => [token.sealed])

/** The sealed values of the configuration, by the events that hold them. */
const SEALED_IN: Readonly<Record<string, z.ZodType<readonly string[]>>> = {
  TargetCreated: z.object({ target: targetSecrets }).transform(({ target }) => target),
  TargetChanged: z.object({ after: targetSecrets }).transform(({ after }) => after),
  CompatEnabled: tokenSecrets,
  CompatTokenRotated: tokenSecrets,
  SigningSecretRotated: z.object({ sealed: z.string() }).transform(({ sealed }) => [sealed]),
}
const SEALING_EVENTS: ReadonlySet<string> = new Set(Object.keys(SEALED_IN))

/** The values of the first format in an event; the earliest headers of bidders were not sealed at all. */
function firstFormatIn({ type, data }: RecordedEvent): readonly string[] {
  return SEALED_IN[type]?.parse(data).filter(isFirstFormat) ?? []
}

function opens({ key }: MasterKey, sealed: string): boolean {
  try {
    unsealFirstFormat(key, sealed)
    return true
  } catch {
    return false
  }
}

/** Every value of the first format in the configuration, oldest first. */
async function firstFormatValues(log: Pick<EventLog, 'readAll'>): Promise<readonly string[]> {
  const values: string[] = []
  for (let after = START, end = false; !end; ) {
    const page = await log.readAll(after, PAGE, SEALING_EVENTS)
    values.push(...page.events.flatMap(firstFormatIn))
    after = page.position
    end = page.end
  }
  return values
}

/**
 * The master key of data that was written before there was a root: of the given ones, the one that opens the most of what the
 * configuration has sealed. Null for an empty log. @throws ConfigurationError when none opens any of it; LogUnavailable
 */
export async function keyOfEarlierData(
  log: Pick<EventLog, 'head' | 'readAll'>,
  keys: MasterKeys,
): Promise<MasterKey | null> {
  if ((await log.head()) === START) return null
  const values = await firstFormatValues(log)
  const [best] = masterKeysOf(keys)
    .map((key) => ({ key, opened: values.filter((sealed) => opens(key, sealed)).length }))
    .toSorted((one, other) => other.opened - one.opened)
  const [first] = values
  if (first !== undefined && best?.opened === 0) throw otherKeyError(first.slice(0, first.indexOf('.')), keys)
  return best?.key ?? null
}
