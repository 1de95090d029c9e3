import {
  adjustCallRest,
  createApiKey,
  createBuyer,
  defaults,
  getCallRest,
  listBuyersRest,
  playCall,
  setCampaignStatusByKey,
} from './client.ts'

/** A program as a customer writes it, over the generated functions: `BASE_URL`, `SESSION`, `TO`; it prints what it saw. */
const { BASE_URL = '', SESSION = '', TO = '' } = process.env
defaults.baseUrl = BASE_URL
const bySession = { headers: { authorization: `Bearer ${SESSION}` } }

const issued = await createApiKey(
  { createApiKeyRequest: { name: 'Program', scopes: ['buyers:read', 'calls:read', 'calls:write'] } },
  bySession,
)
if (issued.status !== 201) throw new Error(JSON.stringify(issued.data))
const byKey = { headers: { authorization: `Bearer ${issued.data.key}` } }

const created = await createBuyer({ createBuyerRequest: { name: 'Made by a program', dailyCap: 5 } }, bySession)
if (created.status !== 201) throw new Error(JSON.stringify(created.data))

const listed = await listBuyersRest({ q: 'made by', pageSize: 5 }, byKey)
if (listed.status !== 200) throw new Error(JSON.stringify(listed.data))

const played = await playCall({ playCallRequest: { to: TO, mode: 'instant' } }, bySession)
if (played.status !== 201) throw new Error(JSON.stringify(played.data))
const id = played.data.callId

const adjusted = await adjustCallRest({ id, adjustCallRequest: { revenueCents: 4_200, reason: 'Agreed' } }, byKey)
if (adjusted.status !== 200) throw new Error(JSON.stringify(adjusted.data))
const read = await getCallRest({ id }, byKey)
if (read.status !== 200) throw new Error(JSON.stringify(read.data))

const refused = await setCampaignStatusByKey({ id, setCampaignStatusByKeyRequest: { status: 'paused' } }, byKey)

console.log(
  JSON.stringify({
    scopes: issued.data.apiKey.scopes,
    buyers: listed.data.data.map(({ name, dailyCap }) => ({ name, dailyCap })),
    revenueCents: adjusted.data.call.revenueCents,
    steps: read.data.call.story.steps.length > 0,
    sentence: adjusted.data.call.story.summary.sentence === read.data.story.summary.sentence,
    refused: refused.status === 403 ? refused.data.error.code : refused.status,
  }),
)
