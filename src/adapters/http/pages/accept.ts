/** How an `Accept` header covers a media type: by its most specific range (RFC 9110 §12.5.1). */
interface Match {
  /** 0 where no range covers it. */
  readonly weight: number
  readonly isNamed: boolean
}

function matchOf(accept: string, type: string): Match {
  const weights = new Map(
    accept.split(',').map((entry) => {
      const [range = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase())
      const weight = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1')
      return [range, Number.isNaN(weight) ? 0 : weight] as const
    }),
  )
  const [kind = ''] = type.split('/')
  return {
    weight: weights.get(type) ?? weights.get(`${kind}/*`) ?? weights.get('*/*') ?? 0,
    isNamed: weights.has(type),
  }
}

/** Whether a client wants a page rather than JSON. Programs send no `Accept` or take anything, browsers name `text/html`. */
export function prefersHtml(accept = '*/*'): boolean {
  const html = matchOf(accept, 'text/html')
  const json = matchOf(accept, 'application/json')
  if (html.weight !== json.weight) return html.weight > json.weight
  return html.weight > 0 && html.isNamed && !json.isNamed
}
