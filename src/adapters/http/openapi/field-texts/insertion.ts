import type { FieldTexts } from './field-text.ts'

/** Fields of visitors' leases. */
export const insertionTexts: FieldTexts = {
  visitorId: ['Name by which the page knows its visitor.', 'v_8Yq2LmT0aZ4c'],
  'LeaseNumberRequest.visitorId': ['The name from an earlier lease; another one is replaced.', 'v_8Yq2LmT0aZ4c'],
  sessionId: ['Session of the visitor on the number.', '4503605128273645'],
  'LeaseNumberResponse.sessionId': ['Session for heartbeats; null where the fallback answers.', '4503605128273645'],
  'LeaseNumberRequest.pool': ['Public key of the pool.', 'pk_5f0c2a9d5f0c2a9d5f0c2a9d'],
  referrer: ['Address of the page before; null for none.', 'https://search.example/'],
  'LeaseNumberRequest.params': ['Parameters of the page; those that the pool lists are kept.', { utm_source: 'ads' }],
  'Lease.params': ['Parameters of the page that were kept.', { utm_source: 'ads' }],
  'Lease.url': ['Address of the page; null for none.', 'https://example.com/roofing'],
  'Lease.status': ['`live` until it ends.'],
  overflow: ['Whether the number is shared, or the fallback: calls are matched as well as can be.'],
  takenAt: ['When it began.'],
  'Lease.endedAt': ['When it ended; null while it is live.'],
  endReason: ['Why it ended; null while it is live.'],
  'KeepLeaseResponse.ok': ['Always true.'],
  expired: ['Whether the lease is over.'],
  'KeepLeaseResponse.expiresAt': ['When the lease ends, or ended.'],
  'list-leases query.status': ['Live or ended leases.'],
  'list-leases query.visitorId': ['Leases of one visitor.'],
}
