import type { Map as PersistentMap } from 'immutable'
import { z } from 'zod'
import { refuse } from '../../kernel/refusal.ts'
import { id, instant } from '../../kernel/wire.ts'
import { nameSchema, nullableText, statusNote, timezone } from '../shared/fields.ts'
import { NAME, PREFIX, TEXT } from '../shared/limits.ts'
import { applyPatch } from '../shared/patch.ts'
import type { SliceOf } from '../shared/slice.ts'
import { zoneOrUtc } from '../shared/zones.ts'

export const publisherStatus = z.enum(['onboarding', 'live', 'paused', 'review', 'terminated'])
export type PublisherStatus = z.infer<typeof publisherStatus>
/** A requested status change. */
export const publisherStatusInput = z.object({ status: publisherStatus, note: statusNote.nullish() })

/** Allowed transitions; `terminated` is final (Supplement §4). */
export const PUBLISHER_TRANSITIONS: Readonly<Record<PublisherStatus, readonly PublisherStatus[]>> = {
  onboarding: ['live', 'terminated'],
  live: ['paused', 'review', 'terminated'],
  paused: ['live', 'review', 'terminated'],
  review: ['live', 'paused', 'terminated'],
  terminated: [],
}

/** The settings of a publisher (Document 1, Publisher). */
export const publisherSettings = z.object({
  name: nameSchema(NAME.publisher),
  routingPrefix: z.string().regex(new RegExp(`^[A-Za-z0-9]{${PREFIX.min},${PREFIX.max}}$`), {
    error: `must be ${PREFIX.min} to ${PREFIX.max} letters and digits`,
  }),
  source: nullableText(TEXT.contact),
  contactName: nullableText(TEXT.contact),
  contactEmail: nullableText(TEXT.email),
  contactPhone: nullableText(TEXT.phone),
  contactIm: nullableText(TEXT.contact),
  timezone,
  portalEnabled: z.boolean(),
  payoutSchedule: z.enum(['weekly', 'net_15', 'net_30']),
  payoutMethod: z.enum(['ach', 'wire', 'paypal']),
})
export type PublisherSettings = Readonly<z.infer<typeof publisherSettings>>
export const publisherChanges = publisherSettings.partial()

export const publisher = publisherSettings.extend({
  id,
  status: publisherStatus,
  statusNote: statusNote.nullable(),
  joinedAt: instant.nullable(),
  createdAt: instant,
  updatedAt: instant,
})
export type Publisher = Readonly<z.infer<typeof publisher>>

/** These names are the storage format. */
export const publisherEvents = {
  PublisherCreated: z.object({ publisher }),
  PublisherChanged: z.object({
    publisherId: id,
    name: z.string(),
    before: publisherChanges,
    after: publisherChanges,
  }),
  PublisherStatusChanged: z.object({
    publisherId: id,
    name: z.string(),
    from: publisherStatus,
    to: publisherStatus,
    note: statusNote.nullable(),
    /** Routing keys that the transition revoked, with the campaign of each. */
    revoked: z.array(z.object({ keyId: id, campaignId: id })).readonly(),
  }),
}

export interface Publishers {
  readonly publishers: PersistentMap<string, Publisher>
}

/** The publisher after a transition. The first time live sets `joinedAt`. */
export function withPublisherStatus<P extends Pick<Publisher, 'status' | 'statusNote' | 'joinedAt' | 'updatedAt'>>(
  publisher: P,
  to: PublisherStatus,
  note: string | null,
  at: string,
): P {
  return {
    ...publisher,
    status: to,
    statusNote: note,
    joinedAt: publisher.joinedAt ?? (to === 'live' ? at : null),
    updatedAt: at,
  }
}

export const evolvePublishers: SliceOf<
  Publishers,
  Pick<typeof publisherEvents, 'PublisherCreated' | 'PublisherChanged'>
> = {
  PublisherCreated: (state, { data }) => ({
    ...state,
    publishers: state.publishers.set(data.publisher.id, data.publisher),
  }),
  PublisherChanged: (state, { data, meta }) => ({
    ...state,
    publishers: state.publishers.update(
      data.publisherId,
      (old) => old && applyPatch({ ...old, updatedAt: meta.at }, data.after),
    ),
  }),
}

/** The routing prefixes of all publishers, including terminated ones, so that references stay unambiguous. */
export function takenPrefixes({ publishers }: Publishers): ReadonlySet<string> {
  return new Set(publishers.map(({ routingPrefix }) => routingPrefix).values())
}

/** 409: another publisher has the prefix. */
export function refusePrefixTaken(routingPrefix: string) {
  return refuse('conflict', { routingPrefix }, `Another publisher has the routing prefix ${routingPrefix}.`)
}

/** The settings of a new publisher, in the workspace's time zone. */
export function defaultPublisher(name: string, routingPrefix: string, zone: string): PublisherSettings {
  return {
    name,
    routingPrefix,
    source: null,
    contactName: null,
    contactEmail: null,
    contactPhone: null,
    contactIm: null,
    timezone: zoneOrUtc(zone),
    portalEnabled: false,
    payoutSchedule: 'net_30',
    payoutMethod: 'ach',
  }
}

/** Number of publishers that count against the plan's limit. */
export function publisherCount({ publishers }: Publishers): number {
  return publishers.count(({ status }) => status !== 'terminated')
}
