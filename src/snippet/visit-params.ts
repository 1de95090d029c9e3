/** Query parameters by their name in lower case. */
export type Params = Readonly<Record<string, string>>

const MAX_KEYS = 100
const MAX_VALUE = 256

/** What a pool can list. */
const KEY = /^[\w.-]{1,64}$/

/**
 * The parameters of a visit: those of a page's query, then the earlier ones that it does not name. The first value of a name counts.
 * Names that no pool can list are left out.
 */
export function mergeParams(search: string, earlier: Params = {}): Params {
  const params: Record<string, string> = Object.create(null)
  let count = 0
  const add = (value: string, name: string) => {
    const key = name.toLowerCase()
    if (count === MAX_KEYS || key in params || !KEY.test(key)) return
    params[key] = value.trim().slice(0, MAX_VALUE)
    count++
  }
  new URLSearchParams(search).forEach(add)
  for (const key of Object.keys(earlier)) add(String(earlier[key]), key)
  return params
}
