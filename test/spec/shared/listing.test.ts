import { describe, expect, it } from 'vitest'
import { createBuyer } from '../../../commands/demand/create-buyer.ts'
import { setBuyerStatus } from '../../../commands/demand/set-buyer-status.ts'
import { buyers } from '../../../projections/demand/buyers.ts'
import { getBuyer } from '../../../queries/demand/get-buyer.ts'
import { listBuyers } from '../../../queries/demand/list-buyers.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { collectionOf } from '../../../src/kernel/projection.ts'
import { ask, events, ids, names, viewsOf } from '../../support/fixtures/configuration-views.ts'
import { queryPorts } from '../../support/fixtures/query-ports.ts'
import { given, idOf, NOW, WORKSPACE } from '../../support/fixtures/spec.ts'
import { buyerIn, emptyWorkspace } from '../../support/fixtures/workspace-fixture.ts'

describe('lists of records', () => {
  const three = emptyWorkspace(
    'scale',
    ...['Beta', 'alpha', 'Gamma'].map((name) => [createBuyer, () => ({ name, company: `${name} Inc` })] as const),
  )

  it('are paged, counted, and clamp the page size to 200', async () => {
    const page = await ask(listBuyers, three, { query: { page: '2', pageSize: '2', sort: 'name', dir: 'asc' } })
    expect(page).toMatchObject({ page: 2, pageSize: 2, total: 3, totalPages: 2 })
    expect(names(page)).toEqual(['alpha'])
    expect(await ask(listBuyers, three, { query: { pageSize: '900' } })).toMatchObject({ pageSize: 200 })
    expect(await ask(listBuyers, emptyWorkspace())).toEqual({
      data: [],
      page: 1,
      pageSize: 25,
      total: 0,
      totalPages: 0,
      nextCursor: null,
    })
  })

  it('fall back to the default sort for an unknown one, and search ignoring case', async () => {
    expect((await ask(listBuyers, three, { query: { sort: 'shoe-size' } })).total).toBe(3)
    expect(names(await ask(listBuyers, three, { query: { q: 'GAMMA i' } }))).toEqual(['Gamma'])
    expect(names(await ask(listBuyers, three, { query: { q: '.*' } }))).toEqual([])
  })

  it('leave out archived records unless the status filter names them', async () => {
    const archived = given(workspace, three).when(setBuyerStatus, {
      buyerId: buyerIn(three),
      status: 'archived',
    }).events
    expect(names(await ask(listBuyers, archived)).toSorted()).toEqual(['Gamma', 'alpha'])
    expect(names(await ask(listBuyers, archived, { query: { status: 'archived' } }))).toEqual(['Beta'])
  })

  it('contain only records of the workspace', async () => {
    const foreign = { ...(await viewsOf(events)).all(collectionOf(buyers))[ids.buyer], workspaceId: idOf(2) }
    const views = await viewsOf(emptyWorkspace())
    await views.commit([{ collection: collectionOf(buyers), id: ids.buyer, doc: foreign, position: 1 }], {
      name: 'foreign',
      expected: null,
      next: { position: 1, at: null },
    })
    const requests = { tenant: { workspaceId: WORKSPACE, timezone: 'UTC' }, surface: 'rest', now: NOW } as const
    const ports = queryPorts(views)
    const query = listBuyers.query.parse({})
    expect(await listBuyers.run(ports, { ...requests, params: {}, query })).toMatchObject({ total: 0 })
    expect(await getBuyer.run(ports, { ...requests, params: { id: ids.buyer }, query: {} })).toMatchObject({
      refused: 'buyer-not-found',
    })
  })
})
