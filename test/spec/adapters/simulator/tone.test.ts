import { describe, expect, it } from 'vitest'
import { wav, wavBytes } from '../../../../src/adapters/simulator/tone.ts'

async function bytesOf(ms: number, first: number, last: number): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for await (const part of wav(ms, first, last)) parts.push(part)
  return Buffer.concat(parts)
}
const whole = (ms: number) => bytesOf(ms, 0, wavBytes(ms) - 1)

describe('the tone of a simulated recording', () => {
  it.each([1, 999, 1_000, 1_500, 12_345])('is a WAV file of %i ms', async (ms) => {
    const file = await whole(ms)
    expect(file.length).toBe(wavBytes(ms))
    expect([file.toString('latin1', 0, 4), file.toString('latin1', 8, 16)]).toEqual(['RIFF', 'WAVEfmt '])
    expect(file.readUInt32LE(4)).toBe(file.length - 8)
    const [format, channels] = [file.readUInt16LE(20), file.readUInt16LE(22)]
    expect([format, channels, file.readUInt32LE(24), file.readUInt16LE(34)]).toEqual([1, 1, 8_000, 16])
    expect(file.toString('latin1', 36, 40)).toBe('data')
    expect(file.readUInt32LE(40)).toBe(Math.round(ms * 8) * 2)
  })

  it('can be heard, differs from second to second, and is the same every time', async () => {
    const file = await whole(3_000)
    const second = (n: number) => file.subarray(44 + n * 16_000, 44 + (n + 1) * 16_000)
    expect(second(0).some((byte) => byte !== 0)).toBe(true)
    expect(second(0).equals(second(1))).toBe(false)
    expect((await whole(3_000)).equals(file)).toBe(true)
  })

  it.each([
    [0, 0],
    [0, 43],
    [10, 50],
    [43, 44],
    [44, 44],
    [45, 16_043],
    [16_044, 16_044],
    [16_000, 40_001],
    [47_999, 48_043],
  ])('gives out its bytes %i to %i alone', async (first, last) => {
    const part = await bytesOf(3_000, first, last)
    expect(part.equals((await whole(3_000)).subarray(first, last + 1))).toBe(true)
  })
})
