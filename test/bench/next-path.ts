import { readFileSync } from 'node:fs'

/** Steps from one path to the next, so that the connections of a load do not ask for the same one at a time. */
const STEP = 37

const paths: readonly string[] = JSON.parse(readFileSync(process.env.BENCH_PATHS ?? '', 'utf8'))
let next = 0

/** For a worker of autocannon: the request for the next of the paths in the file that `BENCH_PATHS` names. */
function nextPath<Request extends object>(given: Request): Request & { readonly path: string } {
  next = (next + STEP) % paths.length
  return { ...given, path: paths[next] ?? '/' }
}

// What `require` answers.
export { nextPath as 'module.exports' }
