import type { Tenant } from '../../src/kernel/query.ts'

/**
 * The publisher of a request on the portal, by which everything that it reads is filtered.
 * @throws TypeError on any other surface: without a publisher there would be no filter
 */
export function portalPublisher({ publisherId }: Tenant): string {
  if (publisherId === undefined) throw new TypeError('A query of the portal was asked without a publisher.')
  return publisherId
}
