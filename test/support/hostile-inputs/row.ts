/** Prepares the evaluation of the n-th run. Inputs are of the largest allowed size and differ by run, so that no cache answers. */
export type Prepare = (run: number) => () => unknown

/** An input, and how it is evaluated. */
export type Row = readonly [input: string, prepare: Prepare]

/** A text of exactly `length` characters: a begin, a repeated part and an end. */
export function fill(length: number, repeated: string, begin = '', end = ''): string {
  const room = length - begin.length - end.length
  return begin + repeated.repeat(Math.ceil(room / repeated.length)).slice(0, room) + end
}

/** As many values. */
export const list = <Value>(length: number, of: (at: number) => Value): readonly Value[] =>
  Array.from({ length }, (_, at) => of(at))

/** A row for each shape of a text: what of it repeats, with what it begins and ends. */
export function shapes(
  shapesOf: Readonly<Record<string, readonly [repeated: string, begin?: string, end?: string]>>,
  length: number,
  evaluate: (text: string) => unknown,
): readonly Row[] {
  return Object.entries(shapesOf).map(([name, [repeated, begin = '', end = '']]) => [
    name,
    (run) => {
      const text = fill(length, repeated, begin.replace('#', String(run)), end)
      return () => evaluate(text)
    },
  ])
}

/** Rows with a name before each. */
export const named = (name: string, rows: readonly Row[]): readonly Row[] =>
  rows.map(([input, prepare]) => [`${name}: ${input}`, prepare])
