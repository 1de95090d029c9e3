// The demo page of the sandbox. It runs before the snippet, which is loaded with `async`.
const SAMPLE = 'utm_source=radio&utm_medium=audio&utm_campaign=storm-season'
const POLL_MS = 400
const MAX_POLLS = 75

// Who opens the page without parameters sees those of a sample advertisement.
if (location.search.length < 2) history.replaceState(null, '', `?${SAMPLE}`)

const element = (id) => document.getElementById(id)
const write = (id, text) => {
  element(id).textContent = text
}

/** The lease of this page, as the snippet tells it. */
let lease = null

function showLease() {
  const { number, sessionId, overflow } = lease
  write('number', `${number.display} (${number.e164})${overflow ? ', which others see as well' : ''}`)
  write('session', sessionId ?? 'None: every number of the pool is leased, so this is its fallback. Try again later.')
  element('call').disabled = sessionId === null
}

async function request(path, options) {
  const response = await fetch(`/api/sandbox/landing/calls${path}`, options)
  const body = await response.json()
  if (!response.ok) throw new Error(body.error.message)
  return body
}

function row(cells) {
  const line = document.createElement('tr')
  for (const text of cells) line.append(Object.assign(document.createElement('td'), { textContent: text }))
  return line
}

function showCall({ call }) {
  const { ref, status, dialedNumber, talkSeconds, tags, tagSources, dniSessionId, numberPoolId, story } = call
  write('summary', `${ref} to ${dialedNumber}: ${status}, ${talkSeconds} s of talk. ${story.summary.sentence}`)
  const ofVisitor = Object.keys(tags).filter((name) => tagSources[name] === 'dni')
  element('tags').replaceChildren(...ofVisitor.map((name) => row([name, tags[name], tagSources[name]])))
  write('dni-session', dniSessionId)
  write('pool', numberPoolId)
  const steps = story.steps.map(({ title, sentence }) =>
    Object.assign(document.createElement('li'), { textContent: `${title}: ${sentence}` }),
  )
  element('story').replaceChildren(...steps)
  element('result').hidden = false
}

const isOver = ({ call }) => call.outcome !== 'live'
const pause = () => new Promise((resolve) => setTimeout(resolve, POLL_MS))

async function follow({ callId }, sessionId) {
  for (let n = 0; n < MAX_POLLS; n += 1) {
    const found = await request(`/${callId}?sessionId=${sessionId}`).catch(() => null)
    if (found) showCall(found)
    if (found && isOver(found)) return
    await pause()
  }
}

async function placeCall() {
  const { sessionId, visitorId } = lease
  element('call').disabled = true
  write('status', 'The call is under way, twenty times faster than a real one.')
  try {
    const headers = { 'content-type': 'application/json' }
    const placed = await request('', { method: 'POST', headers, body: JSON.stringify({ sessionId, visitorId }) })
    await follow(placed, sessionId)
    write('status', '')
  } catch (error) {
    write('status', error.message)
  }
  showLease()
}

document.addEventListener('svcdni:number', ({ detail }) => {
  lease = detail
  if (document.readyState !== 'loading') showLease()
})
document.addEventListener('DOMContentLoaded', () => {
  write('params', Array.from(new URLSearchParams(location.search), ([name, value]) => `${name} = ${value}`).join(', '))
  element('call').addEventListener('click', placeCall)
  if (lease) showLease()
})
