import { openReadSide } from '../../src/main/read-side/read-side.ts'
import { START } from '../../src/ports/event-log.ts'
import { enterStores } from '../support/fixtures/member.ts'
import { callPage } from './call-page.ts'
import type { Figure } from './measure.ts'
import { fail, pageFigure, servePages, storesIn } from './page-server.ts'
import { storeCalls } from './stored-calls.ts'
import { withDirectory } from './temp-directory.ts'

const KEY = 'svc_test_bench'

/** Serves the page with the credentials of the stored workspace. */
async function openPages(directory: string) {
  const stores = storesIn(directory)
  const { ops, owner, leave } = await enterStores(stores.readStoreUrl)
  const readSide = await openReadSide({ ...stores, owner, ops, head: START, projects: true, onDeath: fail })
  const pages = await servePages(directory, owner, readSide, callPage)
  return {
    url: `${pages.baseUrl}/api/v1/call-page?pageSize=25`,
    async close(): Promise<void> {
      await pages.close()
      await readSide.close()
      await leave()
    },
  }
}

/** A page of 25 calls over HTTP, compared with bare Fastify that sends the same prebuilt bytes. */
export function callList(calls: number): Promise<readonly Figure[]> {
  return withDirectory(async (directory) => {
    const stored = await storeCalls(directory, [KEY])
    await stored.growTo(calls)
    await stored.resetCheckpoint()
    const pages = await openPages(directory)
    const figure = await pageFigure(`page of 25 out of ${calls.toLocaleString('en-US')} calls, HTTP`, pages.url, KEY)
    await pages.close()
    return [figure]
  })
}
