import type { Mount } from '../../../kernel/query.ts'
import type { ApiRoute } from '../../../ports/api.ts'

type Surface = Mount['surface']

/** Documents that can be asked for one by one, with what they hold. */
const documents = {
  rest: 'The API for programs: API keys with scopes.',
  console: 'What the console does: session tokens of owners and admins.',
  portal: "What a publisher's users see: session tokens of theirs.",
  account: "Sign-in, and a signed-in user's own account.",
  sandbox: 'Simulated calls: session tokens of a sandbox workspace.',
  operator: 'What the staff of the platform does.',
  carrier: 'Webhooks of the carrier.',
  public: 'What pages of customers call, without a credential.',
  rtb: "Publishers' pings and posts: routing keys.",
} as const

export type DocumentName = keyof typeof documents

/** How the documentation presents each surface: its document, and the title that its tags begin with. */
const surfaces: Readonly<Record<Surface, { readonly document: DocumentName; readonly title: string }>> = {
  rest: { document: 'rest', title: 'REST' },
  console: { document: 'console', title: 'Console' },
  portal: { document: 'portal', title: 'Portal' },
  account: { document: 'account', title: 'Account' },
  'sign-in': { document: 'account', title: 'Account' },
  sandbox: { document: 'sandbox', title: 'Sandbox' },
  operator: { document: 'operator', title: 'Operator' },
  carrier: { document: 'carrier', title: 'Carrier' },
  public: { document: 'public', title: 'Public' },
  rtb: { document: 'rtb', title: 'Real-time bidding' },
}

/** The document that shows a route. */
export const documentNameOf = ({ surface }: Pick<ApiRoute, 'surface'>): DocumentName => surfaces[surface].document

/** Names of all documents, in the order of their table. */
export const documentNames: readonly DocumentName[] = [
  'rest',
  'console',
  'portal',
  'account',
  'sandbox',
  'operator',
  'carrier',
  'public',
  'rtb',
]

export const documentDescription = (name: DocumentName): string => documents[name]

/** What a path is about, by the first pattern that it has. */
const resources: readonly (readonly [RegExp, string, string])[] = [
  [/\/activity\b/, 'Activity', 'The immutable record of who changed what, and its hash chain.'],
  [/\/api-keys\b|^\/api\/operator\/keys\b/, 'API keys', 'Credentials of programs, their scopes and their requests.'],
  [/\/auth\b/, 'Sign-in', 'Sessions, passwords and invitations.'],
  [/\/blocked-callers\b/, 'Blocked callers', 'Callers whose calls are refused, everywhere or on one campaign.'],
  [/\/buyers\b/, 'Buyers', 'Who pays for calls, with caps and concurrency over all of its targets.'],
  [/\/calls\/live\b/, 'Live calls', 'Calls that ring or talk at this moment.'],
  [/^\/api\/sandbox\b/, 'Sandbox', 'Calls on the simulated carrier.'],
  [/\/reports\b/, 'Reports', 'Figures of calls by one or two dimensions, as of any instant, and what was lost.'],
  [/\/calls\b/, 'Calls', 'Finished and live calls: their story, their books, their tags and recordings.'],
  [/\/publishers\/keys\b/, 'Routing keys', 'Credentials of a lane: for pings, posts and calls by SIP.'],
  [/\/campaigns\/:id\/publishers\b/, 'Lanes', "A publisher's terms and caps on a campaign."],
  [/\/campaigns\/:id\/routes\b/, 'Routes', 'The targets of a campaign, in the order in which calls try them.'],
  [/\/campaigns\b/, 'Campaigns', 'What calls are about, when they are taken, and whether a campaign can be live.'],
  [/\/orders\b|\/numbers\/purchase\b/, 'Number orders', 'Numbers that are being bought.'],
  [/\/numbers\b/, 'Numbers', 'Tracking numbers, and whom their calls are credited to.'],
  [/\/overview\b/, 'Overview', 'How the workspace stands.'],
  [/\/parked\b|\/projections\b/, 'Projections', 'What is built from the event log, and how far it is.'],
  [/\/pings\b/, 'Pings', "Publishers' pings, and the bids under them."],
  [/^\/api\/public\/dni\b/, 'Number insertion', 'Numbers that pages lease for their visitors.'],
  [/\/pools\b/, 'Pools', 'Numbers that are shown to visitors in rotation.'],
  [/\/publishers\b/, 'Publishers', 'Who brings calls, and is paid for them.'],
  [/^\/api\/rtb\b/, 'Real-time bidding', 'Offers for calls, and the numbers to send them to.'],
  [/\/targets\b/, 'Targets', 'Where calls go: a phone number, a SIP address or a bidder.'],
  [/\/users\b/, 'Users', 'Who may sign in to a workspace.'],
  [/\/webhooks?\b|\/webhook-deliveries\b/, 'Webhooks', 'Endpoints that hear events, and what was sent to them.'],
  [/\/verticals\b/, 'Verticals', 'Lines of business that campaigns belong to.'],
  [/\/wallet\b|\/credits\b/, 'Wallet', 'The prepaid balance, and every entry that changed it.'],
  [/\/workspace\b|\/workspaces\b/, 'Workspace', 'A customer of the platform, with its plan and its clock.'],
  [/./, 'Other', 'Everything else.'],
]

/** A tag of the document. */
export interface Tag {
  readonly name: string
  readonly description: string
}

/** The tag of a route: its surface and its resource. */
export function tagOf({ path, surface }: Pick<ApiRoute, 'path' | 'surface'>): Tag {
  const { title } = surfaces[surface]
  const [, resource = '', description = ''] = resources.find(([pattern]) => pattern.test(path)) ?? []
  return { name: resource === title ? title : `${title}: ${resource}`, description }
}

/** Ways to prove who asks. */
export const securitySchemes = {
  key: {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key: `Authorization: Bearer svc_live_…`. Each operation names the scope that the key needs.',
  },
  session: {
    type: 'http',
    scheme: 'bearer',
    description: 'The token of a signed-in user: `Authorization: Bearer sess_…`, from `POST /api/auth/sign-in`.',
  },
  publisherSession: {
    type: 'http',
    scheme: 'bearer',
    description:
      'The token of a signed-in user of a publisher: `Authorization: Bearer sess_…`, from `POST /api/auth/sign-in`.',
  },
  operator: {
    type: 'http',
    scheme: 'bearer',
    description: "The token of the platform's staff: `Authorization: Bearer <OPERATOR_TOKEN>`.",
  },
  carrierSignature: {
    type: 'apiKey',
    in: 'header',
    name: 'telnyx-signature-ed25519',
    description: "The carrier's Ed25519 signature of the header `telnyx-timestamp` and the body.",
  },
  routingKey: {
    type: 'http',
    scheme: 'bearer',
    description:
      "A publisher's routing key: `Authorization: Bearer rk_live_…`, with `svc-signature` where the key requires it.",
  },
} as const

type Requirement = Readonly<Partial<Record<keyof typeof securitySchemes, readonly string[]>>>

/** What each surface takes, each alternative by itself; scopes are those of the route. */
const credentials: Readonly<Record<Surface, (scopes: readonly string[]) => readonly Requirement[]>> = {
  rest: (scopes) => [{ key: scopes }],
  // A console route with a scope takes API keys too.
  console: (scopes) => [{ session: [] }, ...(scopes.length > 0 ? [{ key: scopes }] : [])],
  portal: () => [{ publisherSession: [] }],
  account: () => [{ session: [] }],
  sandbox: () => [{ session: [] }],
  operator: () => [{ operator: [] }],
  carrier: () => [{ carrierSignature: [] }],
  'sign-in': () => [],
  public: () => [],
  rtb: () => [{ routingKey: [] }],
}

/** Routes that take a credential which they do not need. */
const optionalCredentials: Readonly<Record<string, readonly Requirement[]>> = {
  'accept-invitation': [{}, { session: [] }],
  // Their token is in the path.
  'ping-in-one-step': [],
  'ping-in-one-step-by-get': [],
}

/** The credentials that a route takes. */
export function securityOf({ name, surface, scope }: ApiRoute): readonly Requirement[] {
  return optionalCredentials[name] ?? credentials[surface](scope === null ? [] : [scope])
}
