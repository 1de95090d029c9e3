declare module 'parse-prometheus-text-format' {
  /** A family of series. Of histograms with labels it keeps one series alone. */
  interface Family {
    readonly name: string
    readonly help: string
    readonly type: 'COUNTER' | 'GAUGE' | 'HISTOGRAM' | 'SUMMARY' | 'UNTYPED'
    readonly metrics: readonly { readonly value?: string; readonly labels?: Readonly<Record<string, string>> }[]
  }
  /** Parses the Prometheus text format. @throws for a line that is none of it */
  export default function parse(text: string): readonly Family[]
}
