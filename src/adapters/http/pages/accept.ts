/** The weight of a media type in an `Accept` header: that of the most specific range which covers it, 0 for none (RFC 9110 §12.5.1). */
function weightOf(accept: string, type: string): number {
  const weights = new Map(
    accept.split(',').map((entry) => {
      const [range = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase())
      const weight = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1')
      return [range, Number.isNaN(weight) ? 0 : weight] as const
    }),
  )
  const [kind = ''] = type.split('/')
  return weights.get(type) ?? weights.get(`${kind}/*`) ?? weights.get('*/*') ?? 0
}

/** Whether a client wants a page rather than JSON. Programs send no `Accept` or take anything, browsers name `text/html`. */
export function prefersHtml(accept: string | undefined): boolean {
  return weightOf(accept ?? '*/*', 'text/html') > weightOf(accept ?? '*/*', 'application/json')
}
