import type { RecordedEvent } from '../../../src/kernel/event.ts'

/** A rule that every log of a workspace keeps, checked event by event. */
export interface Rule {
  /** Takes in the next event; a sentence for each way in which it breaks the rule. */
  readonly see: (event: RecordedEvent) => readonly string[]
}
