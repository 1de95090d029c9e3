import { z } from 'zod'

// The fields of Telnyx's responses that we read, by its published API; others are ignored.

const e164 = z.string().regex(/^\+[1-9]\d{6,14}$/)
const numberType = z.enum(['local', 'toll_free', 'mobile', 'national', 'shared_cost'])

/** GET /available_phone_numbers */
export const telnyxAvailableNumbers = z.object({
  data: z.array(
    z.object({
      phone_number: e164,
      phone_number_type: numberType.optional().catch(undefined),
      best_effort: z.boolean().nullish(),
      features: z.array(z.object({ name: z.string().nullish() })).nullish(),
      region_information: z
        .array(z.object({ region_type: z.string().nullish(), region_name: z.string().nullish() }))
        .nullish(),
    }),
  ),
  meta: z.object({ total_results: z.int().nullish(), best_effort_results: z.int().nullish() }).nullish(),
})
export type AvailableNumber = z.infer<typeof telnyxAvailableNumbers>['data'][number]

/** An order in the responses that create, read and list it. */
export const telnyxOrder = z.object({
  id: z.string().min(1),
  status: z.enum(['pending', 'success', 'failure']),
  customer_reference: z.string().nullish(),
  requirements_met: z.boolean().nullish(),
})
export type TelnyxOrder = z.infer<typeof telnyxOrder>

/** POST /number_orders, GET /number_orders/:id */
export const orderResponse = z.object({ data: telnyxOrder })

/** A number of the account. */
export const heldNumber = z.object({ id: z.string().min(1), phone_number: z.string(), status: z.string().nullish() })

/** GET /recordings/:id: URLs that are valid for some minutes. */
export const savedRecording = z.object({
  data: z.object({ download_urls: z.object({ mp3: z.url().nullish(), wav: z.url().nullish() }).nullish() }),
})

/** POST /calls */
export const dialledCall = z.object({ data: z.object({ call_control_id: z.string().min(1) }) })

/** GET /calls/:id */
export const telnyxCallStatus = z.object({
  data: z.object({ is_alive: z.boolean(), end_time: z.iso.datetime({ offset: true }).nullish().catch(null) }),
})

/** The error response of a refused request. */
export const errorResponse = z.object({
  errors: z.array(
    z.object({
      code: z.union([z.string(), z.number()]).nullish(),
      title: z.string().nullish(),
      detail: z.string().nullish(),
    }),
  ),
})
