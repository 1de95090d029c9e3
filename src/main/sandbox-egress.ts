import type { Egress, VettedUrl } from '../ports/egress.ts'

/** The part of our own paths that answers without a credential as others' servers would. */
const SANDBOX_PATH = '/api/sandbox/'

function isOwnSandbox(url: string, baseUrl: string): boolean {
  if (!url.startsWith(baseUrl)) return false
  const [asked, own] = [URL.parse(url), URL.parse(baseUrl)]
  return asked !== null && asked.origin === own?.origin && asked.pathname.startsWith(SANDBOX_PATH)
}

/**
 * Lets the requests of sandbox workspaces reach the platform's own bidders and receivers, whatever address and scheme it has
 * (Supplement §8); all others go through the guard. `direct` reaches every address. URLs are vetted as requests are sent.
 */
export function withOwnSandbox(guarded: Egress, direct: Egress, baseUrl: () => string): Egress {
  const isOwn = ({ url, ownSandbox }: VettedUrl) => ownSandbox === true && isOwnSandbox(url, baseUrl())
  return {
    send: (request) => (isOwn(request) ? direct.send({ ...request, httpsOnly: false }) : guarded.send(request)),
    vet: (url) => (isOwn(url) ? direct.vet({ ...url, httpsOnly: false }) : guarded.vet(url)),
    close: async () => void (await Promise.all([guarded.close(), direct.close()])),
  }
}
