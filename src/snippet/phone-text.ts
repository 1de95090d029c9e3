/** What may stand between two digits of a number. */
const GAP = '[\\s.()\\u2010-\\u2015-]{0,3}'
/** A number begins a text or follows a sign that does not make it an amount, a reference or part of a longer number. */
const LEAD = '(^|[^\\w$€£#+])'
const AREA = '(?:\\([2-9]\\d\\d\\)|[2-9]\\d\\d)'
/** The next sign continues the digits: a longer number, a time or a span of hours. */
const NO_MORE = '(?![\\d/:])'

const NORTH_AMERICAN = `(?:\\+?1${GAP})?${AREA}${GAP}\\d{3}${GAP}\\d{4}(?!\\d)`
const INTERNATIONAL = `\\+\\d(?:${GAP}\\d){6,14}${NO_MORE}`
/** A toll-free number in letters, such as 1-800-FLOWERS. */
const LETTERS = '(?:1[ .-])?(?:\\(8\\d\\d\\)|8\\d\\d)[ .-]{1,2}(?=[A-Z\\d-]{7})[A-Z\\d]+(?:-[A-Z\\d]+)*(?!\\w)'
/** Taken as long as it goes on, so that no part of a longer one is seen as a number. */
const TEN_DIGITS = `\\(?\\d(?:[/\\s.()\\u2010-\\u2015-]{0,3}\\d){9,}${NO_MORE}`
const MAX_DIGITS = 15

/** Forms of a number, the surest first: a later one counts only in texts that have none of those before. */
const FORMS = [
  new RegExp(`${LEAD}(${NORTH_AMERICAN}|${INTERNATIONAL}|${LETTERS})`, 'g'),
  new RegExp(`${LEAD}(${TEN_DIGITS})`, 'g'),
  // A local number, with nothing beside it.
  new RegExp(`^(\\s*)([(\\d](?:${GAP}\\d){6,14})(?=\\s*$)`, 'g'),
]

/** A text, and how a number is written in it. */
export interface PhoneText {
  readonly text: string
  readonly number: string
}

type Span = readonly [start: number, end: number]

function spansOf(form: RegExp, text: string): readonly Span[] {
  const spans: Span[] = []
  text.replace(form, (match, lead: string, found: string, at: number) => {
    const unclosed = found.charAt(0) === '(' && found.indexOf(')') < 0 ? 1 : 0
    if (found.replace(/\D/g, '').length <= MAX_DIGITS) spans.push([at + lead.length + unclosed, at + match.length])
    return match
  })
  return spans
}

/** Writes the number in place of each span of the joined texts; a span that goes on in later texts is taken out of them. */
function fillSpans(texts: readonly PhoneText[], spans: readonly Span[]): readonly string[] {
  let from = 0
  return texts.map(({ text, number }) => {
    const to = from + text.length
    let filled = ''
    let at = from
    for (const [start, end] of spans) {
      if (end <= from || start >= to) continue
      if (start >= from) filled += text.slice(at - from, start - from) + number
      at = Math.min(end, to)
    }
    filled += text.slice(at - from)
    from = to
    return filled
  })
}

/**
 * Replaces the telephone numbers in the texts of one element, and nothing else. A number may be spread over several texts
 * (`(800) <b>555</b>-0100`): the first of them then holds all of the new one. Texts without a number stay as they are.
 */
export function replaceNumbers(texts: readonly PhoneText[]): readonly string[] {
  for (const form of FORMS) {
    if (texts.some(({ text }) => spansOf(form, text).length > 0)) {
      const filled = texts.map((text) => fillSpans([text], spansOf(form, text.text)))
      return filled.reduce((all, one) => all.concat(one), [])
    }
    const joined = spansOf(form, texts.map(({ text }) => text).join(''))
    if (joined.length > 0) return fillSpans(texts, joined)
  }
  return texts.map(({ text }) => text)
}
