import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Marked } from 'marked'
import { fillIn, type GuideOptions, guideValues } from './guide-values.ts'
import { escapeHtml } from './layout.ts'

/** The sections of the guide, in order, as Markdown files beside this one. */
const SECTIONS = [
  'introduction',
  'authentication',
  'errors',
  'paging',
  'reports',
  'idempotency',
  'rate-limits',
  'bidding',
  'portal',
  'webhooks',
  'sandbox',
] as const

/** Identifier of a heading, for links to it. */
const slugOf = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')

interface Heading {
  readonly id: string
  readonly text: string
}

/** Renders Markdown of ours, and collects its headings of the second level. */
function render(markdown: string): { readonly html: string; readonly headings: readonly Heading[] } {
  const headings: Heading[] = []
  const marked = new Marked({
    async: false,
    renderer: {
      heading({ tokens, depth, text }) {
        const id = slugOf(text)
        if (depth === 2) headings.push({ id, text })
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`
      },
      code({ text, lang = '' }) {
        // Behind the language of a block of commands stand the statuses that they answer, in order.
        const [language = '', ...statuses] = lang.split(' ')
        const answers = statuses.length === 0 ? '' : `<p class="answers">Answers ${statuses.join(', ')}</p>\n`
        return `<pre><code class="language-${language}">${escapeHtml(text)}\n</code></pre>\n${answers}`
      },
    },
  })
  // Wide tables scroll by themselves on small screens.
  const html = String(marked.parse(markdown))
    .replaceAll('<table>', '<div class="table"><table>')
    .replaceAll('</table>', '</table></div>')
  return { html, headings }
}

const read = (name: string) => readFileSync(join(import.meta.dirname, `${name}.md`), 'utf8')

const hasSandbox = ({ routes }: GuideOptions) => routes.some(({ surface }) => surface === 'sandbox')

/** The guide to a platform with these routes, as HTML: a list of its sections, and the sections. */
export function renderGuide(options: GuideOptions): string {
  const values = guideValues(options)
  const names = SECTIONS.filter((name) => name !== 'sandbox' || hasSandbox(options))
  const { html, headings } = render(names.map((name) => fillIn(read(name), values)).join('\n'))
  const contents = headings.map(({ id, text }) => `<li><a href="#${id}">${escapeHtml(text)}</a></li>`).join('\n')
  return `<nav aria-label="Contents"><ul class="contents">
${contents}
<li><a href="/docs/reference">API reference</a></li>
</ul></nav>
${html}`
}

/** The first page, as HTML: where things are. */
export function renderHome(options: GuideOptions): string {
  return render([read('home'), ...(hasSandbox(options) ? [read('home-sandbox')] : [])].join('\n')).html
}
