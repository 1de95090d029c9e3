import type { FieldTexts } from './field-text.ts'

/** Fields of the sandbox's loads. */
export const sandboxTexts: FieldTexts = {
  'StartLoadRequest.calls': ['Attempts in all.', 200],
  'StartLoadRequest.publishers': ['Publishers whose lanes are used; without them, all that are live.'],
  perSecond: ['Attempts that begin in a second, as asked for.', 20],
  mix: ['Shares, decided for each attempt by chance; without one, 0.'],
  'mix.ping': ['Share of the attempts that begin with a ping; the others are calls alone.', 0.5],
  'mix.post': ['Share of the won pings that are posted.', 0.8],
  'mix.ghost': ['Share of the won pings after which no call comes.', 0.2],
  'GetLoadResponse.state': ['`failed` when its process has stopped, or left it.'],
  'GetLoadResponse.placed': ['Calls that were placed.'],
  'GetLoadResponse.pings': ['Pings that were answered.'],
  'GetLoadResponse.won': ['Pings that got an offer.'],
  'GetLoadResponse.posted': ['Posts that were accepted.'],
  'GetLoadResponse.failed': ['Attempts that a refusal or an error ended.'],
}
