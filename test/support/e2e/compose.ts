import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'

const ROOT = join(import.meta.dirname, '../../..')

/** Directory of the project in the image, from which its processes run. */
const WORKDIR = '/app'

const texts = z.array(z.string()).default([])
const service = z.looseObject({
  image: z.string(),
  build: z.string().optional(),
  user: z.string().optional(),
  read_only: z.boolean().optional(),
  cap_drop: texts,
  cap_add: texts,
  security_opt: texts,
  privileged: z.boolean().optional(),
  tmpfs: texts,
  volumes: texts,
  ports: texts,
  networks: texts,
  network_mode: z.string().optional(),
  healthcheck: z.looseObject({ test: z.union([z.string(), z.array(z.string())]) }).optional(),
  entrypoint: z.array(z.string()).optional(),
  command: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.union([z.string(), z.number()])).default({}),
})
/** Reads a file of the project. */
export const readProjectFile = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

export const composeSource = readProjectFile('docker-compose.yml')

/** What `docker-compose.yml` says, its variables as they are written. */
export const compose = z
  .object({
    services: z.record(z.string(), service),
    networks: z.record(z.string(), z.object({ internal: z.boolean().optional() }).nullable()),
    volumes: z.record(z.string(), z.unknown()),
  })
  .parse(parse(composeSource, { merge: true }))

/** What a service is set up with. @throws ZodError for one that is not there */
export const composeService = (name: string) => service.parse(compose.services[name])

type Variables = Readonly<Record<string, string>>

/** Where the brace that an index is behind ends. @throws Error without an end */
function endOfBrace(text: string, from: number): number {
  let depth = 1
  for (let at = from; at < text.length; at += 1) {
    if (text.startsWith('${', at)) depth += 1
    if (text[at] === '}') depth -= 1
    if (depth === 0) return at
  }
  throw new Error(`A variable has no end: ${text}`)
}

/**
 * A text with its variables filled in as compose does: `${A}`, `${A:-default}`, `${A:?message}`; a default may have variables,
 * which count only where it is taken. @throws Error with the message
 */
function filledIn(text: string, variables: Variables): string {
  const begin = text.indexOf('${')
  if (begin < 0) return text
  const end = endOfBrace(text, begin + 2)
  const [, name = '', kind = '-', rest = ''] = /^(\w+)(?::([-?])([\s\S]*))?$/.exec(text.slice(begin + 2, end)) ?? []
  const value = variables[name] ?? ''
  if (value === '' && kind === '?') throw new Error(`${name}: ${rest}`)
  const taken = value === '' ? filledIn(rest, variables) : value
  return `${text.slice(0, begin)}${taken}${filledIn(text.slice(end + 1), variables)}`
}

/** The environment of the process in a service's container: that of the image, then that of the service, with an `.env` file filled in. */
export function environmentOf(name: string, dotEnv: Variables): Variables {
  const image = /^ENV (.+)$/m.exec(readProjectFile('Dockerfile'))?.[1] ?? ''
  const ofImage = image.split(' ').map((pair) => pair.split('='))
  const ofService = Object.entries(composeService(name).environment)
  return Object.fromEntries([
    ...ofImage,
    ...ofService.map(([variable, text]) => [variable, filledIn(String(text), dotEnv)]),
  ])
}

/** The words of an instruction of the image in the form of a list; none where it has none. */
function wordsOfImage(instruction: 'ENTRYPOINT' | 'CMD'): readonly string[] {
  const words = new RegExp(`^${instruction} (\\[.+\\])$`, 'm').exec(readProjectFile('Dockerfile'))?.[1] ?? '[]'
  return z.array(z.string()).parse(JSON.parse(words))
}

/**
 * The command line of the process in a service's container, to be run in this checkout: by the Node of this process, and with
 * paths of the checkout for those of the image. @throws Error for another program than `node`
 */
export function commandOf(name: string): readonly [string, ...string[]] {
  const { entrypoint, command } = composeService(name)
  // An entry point of the service's own takes the image's command away.
  const words = [
    ...(entrypoint ?? wordsOfImage('ENTRYPOINT')),
    ...(command ?? (entrypoint === undefined ? wordsOfImage('CMD') : [])),
  ]
  const [program, ...rest] = words
  if (program !== 'node') throw new Error(`${name} runs ${program}, which is no program of this machine.`)
  return [process.execPath, ...rest.map((word) => word.replace(new RegExp(`^${WORKDIR}(?=/)`), ROOT))]
}
