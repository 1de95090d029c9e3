import { refusals } from '../refusals.ts'

/** Schema of every error (Supplement §1.1). */
export const errorSchema = {
  type: 'object',
  description: 'Why a request was refused.',
  properties: {
    error: {
      type: 'object',
      description: 'The error.',
      properties: {
        code: { type: 'string', description: 'What was refused, for programs. Each response lists its codes.' },
        message: { type: 'string', description: 'A sentence for people; it may change.' },
        details: {
          type: ['object', 'null'],
          additionalProperties: true,
          description: 'What the error is about; for `validation_error` a sentence for each field. Null for nothing.',
        },
        requestId: { type: 'string', description: 'Id of the request, as in the header `svc-request-id`.' },
      },
      required: ['code', 'message', 'details', 'requestId'],
      additionalProperties: false,
    },
  },
  required: ['error'],
  additionalProperties: false,
  examples: [
    {
      error: {
        code: 'validation_error',
        message: refusals['validation-error']?.message,
        details: { dailyCap: 'must be a whole number from 0 to 1000000' },
        requestId: 'req_7f9c24e5b1a04d3c8e6f2a1b0c9d8e7f',
      },
    },
  ],
}
