import type { FieldTexts } from './field-text.ts'

/** Fields of the sandbox's loads and receivers. */
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

  // Receivers
  requests: ['The requests that it got.'],
  failFirst: ['Number of first requests that are answered with 500.'],
  'CreateSandboxReceiverRequest.status': ['HTTP status of its answers.', 200],
  'SandboxReceiver.status': ['HTTP status of its answers.', 200],
  'ReceivedRequest.path': ['Path with the query string.', '/api/sandbox/in/0198f2c4-7a10-7c3e-9b52-1f6d0a4e8b21'],
  'ReceivedRequest.headers': ['Headers by their names in lower case.'],
  'ReceivedRequest.body': ['Body as text, shortened; empty without one.'],
  verified: ['Whether its `svc-signature` is right; null without one, or where no endpoint leads to the receiver.'],
}
