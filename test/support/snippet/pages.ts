import { createServer, type OutgoingHttpHeaders } from 'node:http'
import { listenLocally } from '../e2e/listen.ts'

/** A page of a publisher. */
export interface PublisherPage {
  readonly html: string
  readonly headers?: OutgoingHttpHeaders
}

/** A publisher's site, on an origin of its own. */
export interface Pages {
  readonly origin: string
  /** The site under another host name: to its pages, another site. */
  readonly elsewhere: string
  /** The line to paste: the snippet's script element, with these attributes. */
  readonly script: (attributes: Readonly<Record<string, string>>) => string
  /** Serves a page at a path from now on. */
  readonly put: (path: string, page: PublisherPage) => void
  readonly close: () => void
}

/**
 * Serves pages that load the snippet from an API.
 * @param api base of the public number-insertion endpoints: of the imitation, or of the platform
 */
export async function startPages({ api }: { readonly api: string }): Promise<Pages> {
  const pages = new Map<string, PublisherPage>()
  const server = createServer(({ url = '' }, response) => {
    const page = pages.get(url.replace(/\?.*/, ''))
    response.writeHead(page ? 200 : 404, { 'content-type': 'text/html; charset=utf-8', ...page?.headers })
    response.end(page?.html ?? '')
  })
  const port = await listenLocally(server)
  return {
    origin: `http://127.0.0.1:${port}`,
    elsewhere: `http://localhost:${port}`,
    script(attributes) {
      const all = Object.entries({ src: `${api}/svcdni.js`, ...attributes })
      return `<script ${all.map(([name, value]) => `${name}="${value}"`).join(' ')}></script>`
    },
    put: (path, page) => void pages.set(path, page),
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
