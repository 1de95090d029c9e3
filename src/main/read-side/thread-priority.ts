import { setPriority } from 'node:os'

/** Niceness of a thread of the read side: one that answers a caller or decides a call gets three times its share of a busy core. */
const BACKGROUND = 5

/** Lets the other threads of this process go first. Linux knows a priority for each thread; elsewhere nothing is changed. */
export function lowerThreadPriority(): void {
  if (process.platform === 'linux') setPriority(0, BACKGROUND)
}
