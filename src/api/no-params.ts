import { z } from 'zod'

/** Schema of a route without path parameters, or without a query string. */
export const noParams = z.object({})
