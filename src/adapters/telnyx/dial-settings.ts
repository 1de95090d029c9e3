import type { Leg } from './session.ts'

/** How a target is dialled, beside its address. Secrets are unsealed for one dial alone. */
export interface DialSettings {
  readonly sendDigits: string | null
  readonly sip: {
    readonly transport: 'udp' | 'tcp' | 'tls'
    readonly port: number | null
    readonly credentials: { readonly username: string; readonly password: string } | null
  } | null
}

/** Settings of a target that has none of its own. */
export const DEFAULT_SETTINGS: DialSettings = { sendDigits: null, sip: null }

const TRANSPORTS = { udp: 'UDP', tcp: 'TCP', tls: 'TLS' } as const

/** The address to dial: a SIP address with the port that the settings name, unless it names one itself. */
export function addressOf(destination: string, { sip }: DialSettings): string {
  if (!sip || sip.port === null || /^sips?:[^@]*@(\[[^\]]*\]|[^:;?]*):/i.test(destination)) return destination
  return destination.replace(/^(sips?:[^@]*@(?:\[[^\]]*\]|[^:;?]*))/i, `$1:${sip.port}`)
}

/** Transport and credentials of a dial to a SIP address, as fields of Telnyx's request. */
export function sipFields(destination: string, { sip }: DialSettings) {
  if (!sip || !/^sips?:/i.test(destination)) return {}
  const transport = /^sips:/i.test(destination) ? 'tls' : sip.transport
  const { credentials } = sip
  return {
    sip_transport_protocol: TRANSPORTS[transport],
    ...(credentials && { sip_auth_username: credentials.username, sip_auth_password: credentials.password }),
  }
}

/**
 * The caller id of a dial, as fields of Telnyx's request. Telnyx accepts the caller's own number on the strength of their
 * call (`diversion`); without a caller id the number that was called is sent, marked private.
 */
export function callerIdFields(callerId: string | null, { to, from }: NonNullable<Leg['initiated']>) {
  if (callerId === null) return { from: to ?? '', privacy: 'id' as const }
  return { from: callerId, ...(callerId === from && to !== null ? { diversion: to } : {}) }
}
