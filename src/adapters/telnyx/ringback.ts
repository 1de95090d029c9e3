/** The American ringing tone: two frequencies (Hz) together, two seconds on and four off. */
const TONE = { frequencies: [440, 480], onSeconds: 2, offSeconds: 4, rate: 8_000 } as const
const SILENCE = 0x80
const LOUDNESS = 32

/** Header of a WAV file of one channel, 8 bits a sample. */
function wavHeader(samples: number, rate: number): Buffer {
  const bytes = Buffer.alloc(44)
  bytes.write('RIFF', 0, 'latin1')
  bytes.writeUInt32LE(36 + samples, 4)
  bytes.write('WAVEfmt ', 8, 'latin1')
  bytes.writeUInt32LE(16, 16)
  bytes.writeUInt16LE(1, 20)
  bytes.writeUInt16LE(1, 22)
  bytes.writeUInt32LE(rate, 24)
  bytes.writeUInt32LE(rate, 28)
  bytes.writeUInt16LE(1, 32)
  bytes.writeUInt16LE(8, 34)
  bytes.write('data', 36, 'latin1')
  bytes.writeUInt32LE(samples, 40)
  return bytes
}

function createTone(): string {
  const { frequencies, onSeconds, offSeconds, rate } = TONE
  const samples = Buffer.alloc((onSeconds + offSeconds) * rate, SILENCE)
  for (let n = 0; n < onSeconds * rate; n += 1) {
    const level = frequencies.reduce((sum, frequency) => sum + Math.sin((2 * Math.PI * frequency * n) / rate), 0)
    samples[n] = SILENCE + Math.round(level * LOUDNESS)
  }
  return Buffer.concat([wavHeader(samples.length, rate), samples]).toString('base64')
}

let tone: string | null = null

/** The tone that a caller hears in a loop while targets ring: a WAV file in base64. */
export function ringbackTone(): string {
  tone ??= createTone()
  return tone
}
