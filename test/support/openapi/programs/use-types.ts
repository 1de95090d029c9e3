import type { components, operations, paths } from './types.ts'

// What a customer relies on in the generated types; it has to compile.
type Call = components['schemas']['Call']
type Answer = paths['/api/v1/calls/{id}']['get']['responses']['200']['content']['application/json']
type Scopes = components['schemas']['CreateApiKeyRequest']['scopes']
type Filters = NonNullable<operations['list-calls.rest']['parameters']['query']>

export const storyOf = ({ call }: Answer): Call['story'] => call.story
export const scopes: Scopes = ['calls:read', 'calls:write']
export const filters: Filters = { minTalk: 60, pageSize: 100, outcome: 'converted' }
export const profit = ({ revenueCents, payoutCents }: Call): number => revenueCents - payoutCents
// @ts-expect-error An unknown scope does not compile.
export const unknownScope: Scopes = ['calls:everything']
