import { SHARED_MASTER_KEY, type StoreSetup } from '../e2e/server.ts'
import { databaseOf, eventStoreUrl, mongoUrl } from '../servers.ts'

/** The real servers, with read models in a database of their own; none where there are none. */
export function realStoresIn(database: string): readonly StoreSetup[] {
  const [log, views] = [eventStoreUrl(), mongoUrl()]
  if (!log || !views) return []
  const stores = { EVENT_LOG_URL: log, READ_STORE_URL: databaseOf(views, database) }
  return [{ name: 'EventStoreDB and MongoDB', connectionStrings: () => ({ ...stores, MASTER_KEY: SHARED_MASTER_KEY }) }]
}
