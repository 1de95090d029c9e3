import { parser } from '@prometheus-io/lezer-promql'

/** A matcher of a label in a selector, as it is written. */
export interface Matcher {
  readonly label: string
  readonly operator: string
  readonly value: string
}

/** What an expression selects and groups by. */
export interface Expression {
  readonly selectors: readonly { readonly metric: string; readonly matchers: readonly Matcher[] }[]
  /** Labels of `by`, `on` and the like. */
  readonly groupings: readonly string[]
}

type Node = ReturnType<(typeof parser)['parse']>['topNode']

/** The nodes of a name at or below a node, in order; of nested ones the outer. */
function below(node: Node, name: string): readonly Node[] {
  if (node.name === name) return [node]
  const found: Node[] = []
  for (let child = node.firstChild; child; child = child.nextSibling) found.push(...below(child, name))
  return found
}

const unquoted = (text: string) => text.slice(1, -1)

/** Parses an expression of PromQL. @throws SyntaxError where it is none */
export function parsePromql(text: string): Expression {
  const { topNode } = parser.configure({ strict: true }).parse(text)
  const textOf = ({ from, to }: Pick<Node, 'from' | 'to'>) => text.slice(from, to)
  const firstOf = (node: Node, name: string) => below(node, name).map(textOf)[0] ?? ''
  return {
    selectors: below(topNode, 'VectorSelector').map((selector) => ({
      metric: firstOf(selector, 'Identifier'),
      matchers: below(selector, 'UnquotedLabelMatcher').map((matcher) => ({
        label: firstOf(matcher, 'LabelName'),
        operator: firstOf(matcher, 'MatchOp'),
        value: unquoted(firstOf(matcher, 'StringLiteral')),
      })),
    })),
    groupings: below(topNode, 'GroupingLabels').flatMap((labels) => below(labels, 'LabelName').map(textOf)),
  }
}
