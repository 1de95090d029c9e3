import {
  type BulkWriteResult,
  MongoBulkWriteError,
  MongoInvalidArgumentError,
  MongoNetworkError,
  MongoServerClosedError,
  MongoServerError,
} from 'mongodb'
import { describe, expect, test } from 'vitest'
import { isUnavailable } from '../../../../src/adapters/mongodb/connection.ts'

const written = {} as BulkWriteResult
const cut = new MongoNetworkError('connection 6 closed')
const duplicate = { message: 'E11000 duplicate key', code: 11_000 }

describe('what the driver throws', () => {
  test.each<[string, Error]>([
    ['a network error', cut],
    ['a bulk write that a network error ended', new MongoBulkWriteError(cut as never, written)],
    ['a server that was closed', new MongoServerClosedError()],
    ['a server that steps down', new MongoServerError({ message: 'stepping down', code: 189 })],
    [
      "the socket's own error",
      Object.assign(new Error('This socket has been ended by the other party'), { code: 'EPIPE' }),
    ],
    ["the stream's own error", Object.assign(new Error('write after destroy'), { code: 'ERR_STREAM_DESTROYED' })],
  ])('reports the server as unavailable: %s', (_name, error) => {
    expect(isUnavailable(error)).toBe(true)
  })

  test.each<[string, Error]>([
    ['a duplicate', new MongoServerError(duplicate)],
    ['a bulk write with duplicates', new MongoBulkWriteError(duplicate, written)],
    ['misuse of the driver', new MongoInvalidArgumentError('wrong')],
    ["misuse of Node's own", Object.assign(new TypeError('wrong'), { code: 'ERR_INVALID_ARG_TYPE' })],
    ['a fault of ours', new TypeError('wrong')],
  ])('is something else: %s', (_name, error) => {
    expect(isUnavailable(error)).toBe(false)
  })
})
