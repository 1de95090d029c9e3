import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import helmet from '@fastify/helmet'
import type { FastifyInstance } from 'fastify'
import { createTextSender } from '../text-sender.ts'
import { prefersHtml } from './accept.ts'
import { renderGuide, renderHome } from './guide.ts'
import type { GuideOptions } from './guide-values.ts'
import { htmlPage, STYLE_PATH } from './layout.ts'
import { referencePage, referenceScript, SCRIPT_PATH } from './reference.ts'

const HTML = 'text/html; charset=utf-8'

const nobody = ["'none'"]
const ourselves = ["'self'"]

/** Content security policy of our pages: they run no script. */
const pagePolicy = {
  useDefaults: false,
  directives: {
    defaultSrc: nobody,
    styleSrc: ourselves,
    imgSrc: ["'self'", 'data:'],
    baseUri: nobody,
    formAction: nobody,
    frameAncestors: nobody,
  },
}

/** Policy of the reference page: its script comes from this origin, styles its elements, and may call this origin only. */
const referencePolicy = {
  useDefaults: false,
  directives: {
    ...pagePolicy.directives,
    scriptSrc: ourselves,
    connectSrc: ourselves,
    fontSrc: ["'self'", 'data:'],
    styleSrc: ["'self'", "'unsafe-inline'"],
  },
}

/** The pages read no query parameters. */
const config = { parameters: [] }

/** What programs read at `/`. */
const links = ({ title, version }: PageOptions) => ({
  name: title,
  version,
  docs: '/docs',
  reference: '/docs/reference',
  openapi: '/openapi.json',
  health: '/healthz',
  readiness: '/readyz',
})

/** What the pages are made of. */
export interface PageOptions extends GuideOptions {
  readonly title: string
  readonly version: string
}

/** Serves `/`, the guide and the reference page. A path with a slash at its end is the same page. */
export async function registerPages(server: FastifyInstance, options: PageOptions): Promise<void> {
  const { title, version } = options
  const guide = htmlPage(title, version, {
    title: 'API guide',
    description: `How to use the API of ${title}: authentication, errors, paging, idempotency and rate limits.`,
    body: renderGuide(options),
  })
  const home = htmlPage(title, version, {
    title,
    description: 'Call tracking and call routing for pay-per-call networks.',
    body: renderHome(options),
  })
  const sendHome = createTextSender(HTML, () => home)
  const sendLinks = createTextSender('application/json; charset=utf-8', () => JSON.stringify(links(options)))
  const sendGuide = createTextSender(HTML, () => guide)
  const sendReference = createTextSender(HTML, () => referencePage(title))
  const style = readFileSync(join(import.meta.dirname, 'style.css'), 'utf8')
  await server.register(async (pages) => {
    await pages.register(helmet, { contentSecurityPolicy: pagePolicy, crossOriginResourcePolicy: false })
    pages.get('/', { config }, async (request, reply) => {
      reply.header('vary', 'accept')
      return (prefersHtml(request.headers.accept) ? sendHome : sendLinks)(request, reply)
    })
    for (const path of ['/docs', '/docs/']) pages.get(path, { config }, sendGuide)
    for (const path of ['/docs/reference', '/docs/reference/'])
      pages.get(path, { config, helmet: { contentSecurityPolicy: referencePolicy } }, sendReference)
    pages.get(
      STYLE_PATH,

      createTextSender('text/css; charset=utf-8', () => style),
    )
    pages.get(SCRIPT_PATH, createTextSender('text/javascript; charset=utf-8', referenceScript))
  })
}
