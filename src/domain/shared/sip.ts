/** Reason phrases of SIP response codes (RFC 3261 §21). */
const TEXTS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  407: 'Proxy Authentication Required',
  408: 'Request Timeout',
  410: 'Gone',
  480: 'Temporarily Unavailable',
  481: 'Call Does Not Exist',
  484: 'Address Incomplete',
  486: 'Busy Here',
  487: 'Request Terminated',
  488: 'Not Acceptable Here',
  500: 'Server Internal Error',
  501: 'Not Implemented',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Server Time-out',
  600: 'Busy Everywhere',
  603: 'Decline',
  604: 'Does Not Exist Anywhere',
}

/** The reason phrase of a SIP response code; null for no code or an unknown one. */
export function sipText(code: number | null): string | null {
  return code === null ? null : (TEXTS[code] ?? null)
}
