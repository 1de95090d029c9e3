import { z } from 'zod'
import { buyers } from '../../projections/demand/buyers.ts'
import type { targets } from '../../projections/demand/targets.ts'
import { buyerReference } from '../../src/domain/demand/buyer.ts'
import { type Endpoint, endpoint, type Rtb, rtb } from '../../src/domain/demand/endpoint.ts'
import { type Target, target, targetKind } from '../../src/domain/demand/target.ts'
import { nationalFormat } from '../../src/domain/supply/number.ts'
import type { WithId } from '../../src/kernel/document.ts'
import type { QueryContext } from '../../src/kernel/query.ts'
import type { ReadStore } from '../../src/ports/read-store.ts'
import { bidHeaderPlace } from '../../src/ports/sealed-places.ts'
import type { Place, Secrets } from '../../src/ports/secrets.ts'
import { today, todayFor, todayOf } from '../calls/today-figures.ts'
import { countersOf, health, healthOf, usage, usageOf } from '../routing/usage-figures.ts'
import { type DocOf, readReferenced } from '../shared/documents.ts'
import { statusReference } from '../shared/reference.ts'

/** The dial settings of a target in a response: of the password only whether there is one, and its last characters. */
export const endpointShape = endpoint
  .omit({ sipSecret: true })
  .extend({ hasSipSecret: z.boolean(), sipSecretLast4: z.string().nullable() })
  .meta({ id: 'Endpoint' })

const destination = z.object({
  type: z.enum(['number', 'sip', 'rtb']),
  value: z.string().nullable(),
  display: z.string().nullable(),
})

/** A target in a response. */
export const targetShape = target
  .omit({ endpoint: true })
  .extend({
    kind: targetKind,
    buyer: buyerReference.nullable(),
    ...health.shape,
    destination,
    endpoint: endpointShape.nullable(),
    // Hidden values are not valid header values.
    rtb: rtb
      .extend({ bidHeaders: z.record(z.string(), z.string()) })
      .meta({ id: 'Bidding' })
      .nullable(),
    usage,
    liveCalls: z.int(),
    today,
  })
  .meta({ id: 'TargetRow' })

/** Unseals the values of bidder headers. */
type HeaderUnsealer = Pick<Secrets, 'unseal'>

/** Replaces a bidder's header values and template where they are hidden. */
const HIDDEN = '•••'

function rtbShapeOf(bidding: Rtb | null, open: HeaderUnsealer | null, placeOf: (header: string) => Place) {
  if (bidding === null) return null
  const shown = Object.entries(bidding.bidHeaders).map(([name, value]) => [
    name,
    open ? open.unseal(value, placeOf(name)) : HIDDEN,
  ])
  const bidBodyTemplate = open ? bidding.bidBodyTemplate : bidding.bidBodyTemplate && HIDDEN
  return { ...bidding, bidHeaders: Object.fromEntries(shown), bidBodyTemplate }
}

function endpointShapeOf(dialling: Endpoint | null) {
  if (dialling === null) return null
  const { sipSecret, ...shown } = dialling
  return { ...shown, hasSipSecret: sipSecret !== null, sipSecretLast4: sipSecret?.last4 ?? null }
}

const hostOf = (url: string | null | undefined) => (url ? new URL(url).host : null)

function destinationShape({ type, endpoint, rtb }: Pick<Target, 'type' | 'endpoint' | 'rtb'>) {
  if (type === 'rtb') return { type, value: hostOf(rtb?.bidUrl), display: hostOf(rtb?.bidUrl) }
  if (type === 'sip') return { type, value: endpoint?.sipUri ?? null, display: endpoint?.sipUri ?? null }
  const value = endpoint?.destinationE164 ?? null
  return { type, value, display: value && nationalFormat(value) }
}

/** Targets with buyer, health, usage and today's figures. `open` unseals bidder headers and shows templates; null hides both. */
export async function targetShapes(
  views: ReadStore,
  request: Pick<QueryContext<unknown, unknown>, 'tenant' | 'now'>,
  docs: readonly WithId<DocOf<typeof targets>>[],
  { open }: { readonly open: HeaderUnsealer | null },
) {
  const ids = docs.map(({ id }) => id)
  const [owners, counters, figures] = await Promise.all([
    readReferenced(views, buyers, docs, ({ buyerId }) => buyerId),
    countersOf(views, 'target', ids),
    todayOf(views, request, 'target', ids),
  ])
  return docs.map(({ workspaceId, targetId: _target, campaignIds: _campaigns, endpoint, rtb, ...record }) => {
    const owner = owners.get(record.buyerId)
    const used = usageOf(counters, record.id, request.now)
    return {
      ...record,
      ...healthOf(counters, record.id, request.now),
      buyer: statusReference(owner),
      destination: destinationShape({ type: record.type, endpoint, rtb }),
      endpoint: endpointShapeOf(endpoint),
      rtb: rtbShapeOf(rtb, open, (header) => bidHeaderPlace(workspaceId, record.id, header)),
      usage: used,
      liveCalls: used.liveCalls,
      today: todayFor(figures, record.id),
    }
  })
}
