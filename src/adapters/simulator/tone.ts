/** 16-bit PCM, one channel, 8,000 samples a second: telephone quality, which every player supports. */
const RATE = 8_000
const SAMPLE_BYTES = 2
const HEADER_BYTES = 44
const SECOND_BYTES = RATE * SAMPLE_BYTES

/** Each second begins with a short beep of another pitch, so that the position is audible. */
const PITCHES = [440, 494, 523, 587, 659, 698, 784, 880] as const
const BEEP_SECONDS = 0.2
const LOUDNESS = 8_000

/** Size of a WAV file in bytes, by its length in milliseconds. */
export function wavBytes(ms: number): number {
  return HEADER_BYTES + soundBytes(ms)
}

const soundBytes = (ms: number) => Math.round((ms * RATE) / 1_000) * SAMPLE_BYTES

function headerOf(ms: number): Uint8Array {
  const bytes = soundBytes(ms)
  const header = new DataView(new ArrayBuffer(HEADER_BYTES))
  const text = (at: number, word: string) => {
    for (const [place, letter] of [...word].entries()) header.setUint8(at + place, letter.charCodeAt(0))
  }
  text(0, 'RIFF')
  header.setUint32(4, HEADER_BYTES - 8 + bytes, true)
  text(8, 'WAVEfmt ')
  header.setUint32(16, 16, true)
  header.setUint16(20, 1, true)
  header.setUint16(22, 1, true)
  header.setUint32(24, RATE, true)
  header.setUint32(28, SECOND_BYTES, true)
  header.setUint16(32, SAMPLE_BYTES, true)
  header.setUint16(34, SAMPLE_BYTES * 8, true)
  text(36, 'data')
  header.setUint32(40, bytes, true)
  return new Uint8Array(header.buffer)
}

function beep(pitch: number): Uint8Array {
  const second = new DataView(new ArrayBuffer(SECOND_BYTES))
  const samples = BEEP_SECONDS * RATE
  for (let n = 0; n < samples; n += 1) {
    // Fades in and out to avoid clicks.
    const level = LOUDNESS * Math.sin((Math.PI * n) / samples)
    second.setInt16(n * SAMPLE_BYTES, Math.round(level * Math.sin((2 * Math.PI * pitch * n) / RATE)), true)
  }
  return new Uint8Array(second.buffer)
}

let beeps: readonly Uint8Array[] = []

/** The n-th second of any tone. */
function secondOf(n: number): Uint8Array {
  if (beeps.length === 0) beeps = PITCHES.map(beep)
  return beeps[n % PITCHES.length] ?? new Uint8Array(SECOND_BYTES)
}

/** The bytes `first` to `last` (inclusive) of a WAV file of `ms` milliseconds, in chunks of at most a second. */
export async function* wav(ms: number, first: number, last: number): AsyncGenerator<Uint8Array> {
  if (first < HEADER_BYTES) yield headerOf(ms).subarray(first, last + 1)
  for (let at = Math.max(first, HEADER_BYTES) - HEADER_BYTES; at <= last - HEADER_BYTES; ) {
    const second = Math.floor(at / SECOND_BYTES)
    const from = at - second * SECOND_BYTES
    const part = secondOf(second).subarray(from, Math.min(SECOND_BYTES, from + last - HEADER_BYTES - at + 1))
    yield part
    at += part.length
  }
}
