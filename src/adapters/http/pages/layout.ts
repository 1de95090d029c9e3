/** Path of the style sheet of every page. */
export const STYLE_PATH = '/docs/style.css'

/** A page of ours: its body is HTML that needs no script. */
export interface PageContent {
  readonly title: string
  readonly description: string
  readonly body: string
}

const NAVIGATION = [
  ['/docs', 'Guide'],
  ['/docs/reference', 'API reference'],
  ['/openapi.json', 'OpenAPI'],
] as const

/** A drawn icon, so that browsers ask for no file. */
const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='3' fill='%230b57d0'/%3E%3Cpath d='M4 4h8M4 8h8M4 12h5' stroke='white' stroke-width='1.6'/%3E%3C/svg%3E"

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** A text as HTML, in attributes too. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (sign) => escapes[sign] ?? sign)
}

/** The head of every page. */
export function headOf(product: string, { title, description }: Omit<PageContent, 'body'>): string {
  const name = title === product ? title : `${title} · ${product}`
  return `<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(name)}</title>
<meta name="description" content="${escapeHtml(description)}">
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="${STYLE_PATH}">`
}

/** The header of every page: the product's name and where the other pages are. */
export function navigation(product: string): string {
  const links = NAVIGATION.map(([path, name]) => `<a href="${path}">${name}</a>`).join('\n')
  return `<header class="site"><nav aria-label="Site">
<a class="product" href="/">${escapeHtml(product)}</a>
${links}
</nav></header>`
}

/** A whole page as HTML. */
export function htmlPage(product: string, version: string, page: PageContent): string {
  return `<!doctype html>
<html lang="en">
<head>
${headOf(product, page)}
</head>
<body class="text">
${navigation(product)}
<main>
<h1>${escapeHtml(page.title)}</h1>
${page.body}
</main>
<footer>${escapeHtml(product)} ${escapeHtml(version)}</footer>
</body>
</html>
`
}
