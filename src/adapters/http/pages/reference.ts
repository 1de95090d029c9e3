import { fastify } from 'fastify'
import { escapeHtml, headOf, navigation } from './layout.ts'

/** Path of the script of the reference page. */
export const SCRIPT_PATH = '/docs/reference.js'

/** Settings of the reference page: nothing is asked of other hosts, and no other project's name is shown. */
const settings = {
  url: '/openapi.json',
  // Requests go where the page came from, whatever address the document names.
  servers: [{ url: '/' }],
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  persistAuth: false,
  documentDownloadType: 'json',
  customCss: 'a[href^="https://scalar.com"] { display: none }',
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
}

/**
 * The reference page: a page of ours around the script of Scalar, which draws the OpenAPI document. The script reads its
 * settings from an attribute, so the page needs no inline script.
 */
export function referencePage(product: string): string {
  const title = 'API reference'
  const description = `Every endpoint of ${product}, with its parameters and answers.`
  return `<!doctype html>
<html lang="en">
<head>
${headOf(product, { title, description })}
</head>
<body>
${navigation(product)}
<noscript><main class="text">
<h1>${title}</h1>
<p>This page is drawn by a script. Without one, read the <a href="/docs">guide</a> and the <a href="/openapi.json">OpenAPI document</a>.</p>
</main></noscript>
<script id="api-reference" type="application/json" data-configuration="${escapeHtml(JSON.stringify(settings))}"></script>
<script src="${SCRIPT_PATH}"></script>
</body>
</html>
`
}

/**
 * The script of the reference page, 5 MB. The package serves it as a plug-in and holds it in its code, whose loading takes
 * 0.1 s; so it is loaded when the page is first asked for.
 */
export async function referenceScript(): Promise<string> {
  const { default: scalar } = await import('@scalar/fastify-api-reference')
  const server = fastify()
  await server.register(scalar, { routePrefix: '/', configuration: { url: settings.url } })
  const { body } = await server.inject('/js/scalar.js')
  await server.close()
  return body
}
