import type { WorkspaceState } from '../domain/configuration/workspace.ts'
import { REQUEST } from '../domain/shared/limits.ts'
import { excerpt } from '../kernel/excerpt.ts'
import type { Script } from '../ports/call-script.ts'

const UNKNOWN_KEY =
  'is neither a target of this workspace, nor a number or SIP address of one, nor a number of the workspace'

/** Every number and address that the targets of a workspace dial. */
function dialledDestinations({ targets }: WorkspaceState): ReadonlySet<string> {
  const found = [...targets.values()].flatMap(({ endpoint, rtb }) => [
    endpoint?.destinationE164,
    endpoint?.sipUri,
    rtb?.destination?.value,
  ])
  return new Set(found.filter((one) => typeof one === 'string'))
}

/** Problems of the keys of a script that are no target, number or address of the workspace; null when there are none (Supplement §11). */
export function scriptKeyProblems(script: Script, state: WorkspaceState): Readonly<Record<string, string>> | null {
  const others = Object.keys(script).filter((key) => !state.targets.has(key))
  if (others.length === 0) return null
  const dialled = dialledDestinations(state)
  const unknown = others.filter((key) => !dialled.has(key) && !state.numberIds.has(key)).slice(0, REQUEST.problems)
  if (unknown.length === 0) return null
  return Object.fromEntries(unknown.map((key) => [`script.${excerpt(key)}`, UNKNOWN_KEY]))
}
