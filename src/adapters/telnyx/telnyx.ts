import type { Carrier } from '../../ports/carrier.ts'
import type { TelnyxAccount } from './client.ts'
import { createTelnyxNumbers } from './numbers.ts'

/**
 * Telnyx, as far as renting numbers goes. Calls do not arrive through it: a dial or a release can only belong to a call
 * of another carrier, whose end nobody will tell, so that the platform ends it in time. `rents` says whether numbers can
 * be rented at all.
 */
export function openTelnyx(account: TelnyxAccount, rents: boolean): Carrier {
  return {
    name: 'Telnyx',
    dial: async () => {},
    release: async () => {},
    probe: async () => ({ outcome: 'failed', sipCode: null, ms: 0 }),
    numbers: rents ? createTelnyxNumbers(account) : null,
    close: async () => {},
  }
}
