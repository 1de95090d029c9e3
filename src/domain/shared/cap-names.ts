/** The windows of caps, as `target.capped` names them (Document 2, Event details). */
export const CAP_WINDOWS = ['hourly', 'daily', 'monthly', 'lifetime', 'daily revenue'] as const
/** Whose cap it is. */
export const CAP_SCOPES = ['target', 'buyer'] as const
