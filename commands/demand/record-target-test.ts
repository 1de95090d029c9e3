import { workspace } from '../../src/domain/configuration/workspace.ts'
import { targetEvents } from '../../src/domain/demand/target.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'

/** Records a target's test and its result. It books and counts nothing. */
export const recordTargetTest = defineCommand({
  name: 'record-target-test',
  entity: workspace,
  input: targetEvents.TargetTested.omit({ name: true }),
  rejects: ['target-not-found'],
  decide(test, { targets }) {
    const target = targets.get(test.targetId)
    return target ? [{ type: 'TargetTested', data: { ...test, name: target.name } }] : refuseNotFound('target')
  },
})
