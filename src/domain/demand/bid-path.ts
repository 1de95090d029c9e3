import { JSONPathEnvironment, type JSONPathQuery, type JSONValue } from 'json-p3'

/** What JSON holds. */
export type Json = JSONValue

const environment = new JSONPathEnvironment()
// A regular expression of somebody else's would run on the thread that answers calls.
for (const name of ['match', 'search']) environment.functionRegister.delete(name)

/** What makes a path walk the whole answer, once for each place where it stands: a descent, a filter, a look from the root. */
const WALKS = /\.\.|\?|(?<!^)\$/g
const WALKS_MAX = 1

const pathCache = new Map<string, JSONPathQuery>()
/** Paths come from requests, so what is remembered of them is bounded. */
const PATH_CACHE_MAX = 2_000

/** A path made ready. @throws Error naming what is wrong with it */
function compilePath(path: string): JSONPathQuery {
  const before = pathCache.get(path)
  if (before) return before
  const query = environment.compile(path)
  if (pathCache.size >= PATH_CACHE_MAX) pathCache.clear()
  pathCache.set(path, query)
  return query
}

/** What is wrong with a path into a bidder's answer (JSONPath, RFC 9535), as a sentence; null when nothing is. */
export function pathProblem(path: string): string | null {
  if ((path.match(WALKS)?.length ?? 0) > WALKS_MAX) return 'Holds more than one descent, filter or second root.'
  try {
    compilePath(path)
    return null
  } catch (error) {
    return `Not a JSONPath: ${error instanceof Error ? error.message : String(error)}.`
  }
}

/**
 * The first value that a path finds in a bidder's answer; undefined where it finds none, or where the answer is too deep
 * to be walked. The path has no problem.
 */
export function valueAt(path: string, answer: Json): unknown {
  try {
    return compilePath(path).match(answer)?.value
  } catch {
    return undefined
  }
}
