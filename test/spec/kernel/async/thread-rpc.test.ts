import { MessageChannel } from 'node:worker_threads'
import { describe, expect, test } from 'vitest'
import { connectRpc, notifyRpc, serveRpc } from '../../../../src/kernel/async/thread-rpc.ts'
import { LogUnavailable } from '../../../../src/ports/event-log.ts'
import { StoreUnavailable } from '../../../../src/ports/read-store.ts'

const handlers = {
  double: (n: number) => 2 * n,
  bytes: async (count: number) => ({ bytes: new Uint8Array(count).fill(7), position: 1 }),
  async fail(kind: string): Promise<void> {
    if (kind === 'log') throw new LogUnavailable('no log')
    if (kind === 'store') throw new StoreUnavailable('no store')
    throw new RangeError('other')
  },
}

/** The two ends of a channel with the handlers at the far one, and how many messages it received. */
function fixture() {
  const { port1, port2 } = new MessageChannel()
  let messages = 0
  port2.on('message', () => {
    messages += 1
  })
  serveRpc(port2, handlers)
  const closed = () => new StoreUnavailable('The thread has ended.')
  const remote = connectRpc<typeof handlers & { readonly missing: (_: null) => void }>(port1, closed, {
    LogUnavailable,
  })
  return { remote, port1, port2, messages: () => messages }
}

describe('calls into another thread', () => {
  test('return what the handlers return; calls of one turn travel 32 to a message', async () => {
    const { remote, port1, messages } = fixture()
    const results = await Promise.all(Array.from({ length: 50 }, (_, n) => remote.double(n)))
    expect(results).toEqual(Array.from({ length: 50 }, (_, n) => n * 2))
    expect(messages()).toBe(Math.ceil(50 / 32))
    const [{ bytes }, again] = await Promise.all([remote.bytes(3), remote.bytes(0)])
    expect([...bytes]).toEqual([7, 7, 7])
    expect(again.bytes).toHaveLength(0)
    port1.close()
  })

  test('reject with the error of the handler: by its class where that is known, by its name otherwise', async () => {
    const { remote, port1 } = fixture()
    await expect(remote.fail('log')).rejects.toBeInstanceOf(LogUnavailable)
    await expect(remote.fail('store')).rejects.toMatchObject({ name: 'StoreUnavailable', message: 'no store' })
    await expect(remote.fail('store')).rejects.not.toBeInstanceOf(StoreUnavailable)
    await expect(remote.fail('')).rejects.toMatchObject({ name: 'RangeError', message: 'other' })
    await expect(remote.missing(null)).rejects.toBeInstanceOf(TypeError)
    port1.close()
  })

  test('reject when the thread ends, pending and later ones', async () => {
    const { remote, port1, port2 } = fixture()
    const pending = remote.double(1)
    port2.close()
    await expect(pending).rejects.toThrow('The thread has ended.')
    await expect(remote.double(2)).rejects.toBeInstanceOf(StoreUnavailable)
    port1.close()
  })
})

describe('notifications of another thread', () => {
  test('call its handlers, several in one message, and nothing comes back', async () => {
    const { port1, port2 } = new MessageChannel()
    const noted: number[] = []
    const done = Promise.withResolvers<void>()
    let [there, back] = [0, 0]
    port1.on('message', () => {
      back += 1
    })
    port2.on('message', () => {
      there += 1
    })
    serveRpc(port2, {
      note: (n: number) => void noted.push(n),
      fail() {
        throw new RangeError('dropped')
      },
      end: () => done.resolve(),
    })
    const remote = notifyRpc<{ note: (n: number) => void; fail: () => void; missing: () => void; end: () => void }>(
      port1,
    )
    remote.note(1)
    remote.note(2)
    remote.fail()
    remote.missing()
    remote.end()
    await done.promise
    await new Promise((resolve) => setImmediate(resolve))
    expect([noted, there, back]).toEqual([[1, 2], 1, 0])
    port1.close()
    remote.note(3)
  })
})
