import { lastUseKey, recordOf, requestLabels, requestSeries } from '../domain/access/request-log.ts'
import { REQUEST_LOG } from '../domain/shared/limits.ts'
import type { Clock } from '../ports/clock.ts'
import type { OperationalStore } from '../ports/operational-store.ts'
import type { Random } from '../ports/random.ts'
import type { AnsweredRequest, RequestLog } from '../ports/request-log.ts'

/** How long a request waits for others to be written with. */
const GATHER_MS = 250
const AT_ONCE = 500
/** What waits while the store is away; past it the oldest are lost. */
const MOST_WAITING = 20_000
const DAY_MS = 86_400_000

interface Waiting {
  readonly id: string
  readonly at: number
  readonly request: AnsweredRequest
}

function noteOf({ id, at, request }: Waiting) {
  const value = recordOf(request)
  const expiresAt = at + REQUEST_LOG.days * DAY_MS
  return { series: requestSeries(request.keyId), id, at, labels: requestLabels(value), value, expiresAt }
}

/** Remembers requests of API keys, and when each key was last used, in the operational store: in batches, beside the requests. */
export function createRequestLog({
  ops,
  clock,
  random,
  onLost = () => {},
}: {
  readonly ops: Pick<OperationalStore, 'note' | 'put'>
  readonly clock: Clock
  readonly random: Random
  /** Told how many were lost, and of what. */
  readonly onLost?: (count: number, error: unknown) => void
}): RequestLog {
  let waiting: Waiting[] = []
  let writing: Promise<void> | null = null
  let cancel: (() => void) | null = null
  let problem: unknown = null

  async function write(batch: readonly Waiting[]): Promise<void> {
    await ops.note(batch.map(noteOf))
    const lastUses = new Map(batch.map(({ at, request }) => [request.keyId, at]))
    await Promise.all([...lastUses].map(([keyId, at]) => ops.put(lastUseKey(keyId), at, null)))
  }

  /** Writes what waits now; what cannot be written waits on. Says whether it could. */
  async function flush(): Promise<boolean> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, AT_ONCE)
      try {
        await write(batch)
      } catch (error) {
        problem = error
        return false
      }
      const written = new Set(batch)
      waiting = waiting.filter((one) => !written.has(one))
    }
    return true
  }

  function later(): void {
    cancel ??= clock.at(clock.now() + GATHER_MS, () => {
      cancel = null
      writing ??= flush().then(() => {
        writing = null
        if (waiting.length > 0) later()
      })
    })
  }

  return {
    add(request) {
      waiting.push({ id: random.uuid(), at: clock.now(), request })
      if (waiting.length > MOST_WAITING) {
        const lost = waiting.length - MOST_WAITING / 2
        waiting = waiting.slice(lost)
        onLost(lost, problem)
      }
      later()
    },
    async written() {
      await writing
      writing ??= flush().then(() => {
        writing = null
      })
      await writing
    },
    async close() {
      cancel?.()
      await writing
      if (!(await flush())) onLost(waiting.length, problem)
      cancel?.()
    },
  }
}
