import type { FastifyInstance } from 'fastify'

/** Methods in the order in which `Allow` lists them. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

const escapeText = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)

/** Pattern of a route's paths: a parameter is one segment or the part of one, `*` is anything. */
function patternOf(url: string): RegExp {
  const parts = url.split(/(:\w+|\*)/).map((part) => {
    if (part === '*') return '.*'
    return /^:\w+$/.test(part) ? '[^/]+' : escapeText(part)
  })
  return new RegExp(`^${parts.join('')}$`)
}

/** Watches the routes that a server is given, and returns the look-up of a path's methods; empty where no route has it. */
export function trackAllowedMethods(server: FastifyInstance): (path: string) => readonly string[] {
  const routes = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>()
  server.addHook('onRoute', ({ url, method }) => {
    const route = routes.get(url) ?? { pattern: patternOf(url), methods: new Set<string>() }
    routes.set(url, route)
    for (const one of [method].flat()) route.methods.add(one)
  })
  return (path) => {
    const matching = [...routes.values()].filter(({ pattern }) => pattern.test(path))
    const found = METHODS.filter((method) => matching.some(({ methods }) => methods.has(method)))
    return found.length === 0 ? [] : [...found, 'OPTIONS']
  }
}
