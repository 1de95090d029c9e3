import { afterAll, expect, test, vi } from 'vitest'
import { createApiClient } from '../../support/e2e/api-client.ts'
import { documentLine } from '../../support/e2e/document-1.ts'
import { openInProcessPlatform } from '../../support/e2e/in-process-platform.ts'
import { embeddedStores, freshEnvironment } from '../../support/e2e/server.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

// Every plan has call tracking: this platform gets one without.
vi.mock('../../../src/domain/access/plans.ts', async (original) => {
  const actual = await original<typeof import('../../../src/domain/access/plans.ts')>()
  const { starter } = actual.plans
  const untracked = { ...starter, features: { ...starter.features, callTracking: false } }
  return {
    ...actual,
    planOf: (planId: Parameters<typeof actual.planOf>[0]) => (planId === 'starter' ? untracked : actual.planOf(planId)),
  }
})

const { baseUrl, createWorld, close } = await openInProcessPlatform(freshEnvironment(embeddedStores))
afterAll(close)

test(documentLine('console 402 plan_upgrade_required'), async () => {
  const { tenant, other } = await createWorld(async (writer) => ({
    tenant: await createTenantWorkspace(writer, { planId: 'starter' }),
    other: await createTenantWorkspace(writer, { planId: 'growth' }),
  }))
  const ask = createApiClient(() => baseUrl, tenant.session)
  for (const path of ['users', 'workspace', 'buyers', 'buyers/x', 'campaigns', 'calls']) {
    for (const method of path === 'users' || path === 'buyers' ? ['GET', 'POST'] : ['GET']) {
      const answer = await ask(`/api/tracking/${path}`, { method, ...(method === 'POST' ? { body: {} } : {}) })
      expect([answer.status, answer.body.error.code, answer.body.error.details]).toEqual([
        402,
        'plan_upgrade_required',
        { feature: 'callTracking' },
      ])
    }
  }
  // The account belongs to the user and is on no plan.
  expect((await ask('/api/auth/session')).status).toBe(200)
  expect((await createApiClient(() => baseUrl, other.session)('/api/tracking/users')).status).toBe(200)
})
