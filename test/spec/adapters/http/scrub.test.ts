import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { scrub } from '../../../../src/adapters/http/scrub.ts'

const SECRET = 'aB3_-'.repeat(8)
const json = (value: unknown, depth = 1): string =>
  depth === 0 ? String(value) : JSON.stringify(json(value, depth - 1))

describe('a log line loses', () => {
  it.each<readonly [string, string, string]>([
    ['a phone number', 'called +13125550123', 'called +•••0123'],
    ['one of another country', 'called +442071838750.', 'called +•••8750.'],
    ['a short one', 'called +2904821', 'called +•••4821'],
    ['one in a query', '?caller=%2B13125550123&page=2', '?caller=+•••0123&page=2'],
    ['one with spaces', 'called +44 20 7183 8750 twice', 'called +•••8750 twice'],
    ['one with punctuation', 'called +1 (312) 555-0123', 'called +•••0123'],
    ['one without a plus sign', 'called 13125550123', 'called •••0123'],
    ['one of ten digits', 'caller=3125550123&page=2', 'caller=•••0123&page=2'],
    ['one as people write it', 'called (312) 555-0123, 312.555.0124, 312-555-0125', 'called •••0123, •••0124, •••0125'],
    ['one of another country without a plus sign', 'called 442071838750', 'called •••8750'],
    ['one with an exit code', 'called 00442071838750 or 011442071838750', 'called •••8750 or •••8750'],
    ['one behind an underscore', 'number_3125550123', 'number_•••0123'],
    [
      'a number as a JSON number',
      '{"callerNumber":13125550123,"to": 3125550123}',
      '{"callerNumber":"•••0123","to": "•••0123"}',
    ],
    ['a number as a JSON string', '{"ani":"13125550123"}', '{"ani":"•••0123"}'],
    ['one in a tel: address', 'tel:+13125550123 tel:13125550123', 'tel:+•••0123 tel:•••0123'],
    ['one in a sip: address', 'sip:13125550123@sip.example', 'sip:•••0123@sip.example'],
    ['one in a sips: address', 'SIPS:+13125550123@sip.example:5061;x=1', 'SIPS:•••0123@sip.example:5061;x=1'],
    ['one in a sip: address without a host', '<sip:3125550123>', '<sip:•••0123>'],
    ['an encoded sip: address', 'sip%3A13125550123%40sip.example', 'sip%3A•••0123%40sip.example'],
    ['the user and the password of a sip: address', 'sip:desk:hunter2@sip.example', 'sip:•••@sip.example'],
    ['a connection string of MongoDB', 'mongodb://ring:hunter2@db:27017/r', 'mongodb://•••@db:27017/r'],
    [
      'one with a password that is not escaped',
      'mongodb+srv://ring:p@ss/w#rd@db.example/r',
      'mongodb+srv://•••@db.example/r',
    ],
    ['one of the event store', 'esdb://admin:changeit@events:2113?tls=true', 'esdb://•••@events:2113?tls=true'],
    ['credentials in any other URL', 'https://user:hunter2@bids.example/a@b', 'https://•••@bids.example/a@b'],
    [
      'credentials in a URL within JSON',
      String.raw`{"url":"https:\/\/user:hunter2@bids.example"}`,
      String.raw`{"url":"https:\/\/•••@bids.example"}`,
    ],
    ['credentials in an encoded URL', 'to=mongodb%3A%2F%2Fring%3Ahunter2%40db', 'to=mongodb%3A%2F%2F•••%40db'],
    ['a bearer token', 'authorization: Bearer abc.def-ghi', 'authorization: Bearer •••'],
    ['an encoded bearer token', 'Bearer%20abcdef', 'Bearer •••'],
    ['basic credentials', 'Basic dXNlcjpodW50ZXIy', 'Basic •••'],
    ['a secret of ours', `key svc_live_${SECRET}`, 'key svc_live_•••'],
    ['an invitation', `{"x":"inv_${SECRET}"}`, '{"x":"inv_•••"}'],
    ['a token of a password reset', `rst_${SECRET},`, 'rst_•••,'],
    ['a secret behind an underscore', `the_svc_test_${SECRET}`, 'the_svc_test_•••'],
    ['an API key of Telnyx', `KEY0187D0E0C4E6F1AD0E2F8D3A7E4C9B1E_${SECRET.replaceAll(/\W/g, '')}`, 'KEY•••'],
    [
      'a variable of the environment',
      'MASTER_KEY=c2VjcmV0 OPERATOR_TOKEN=hunter2',
      'MASTER_KEY=••• OPERATOR_TOKEN=•••',
    ],
    ['a parameter', '?access_token=hunter2&api-key=x&page=2', '?access_token=•••&api-key=•••&page=2'],
  ])('%s', (_what, line, scrubbed) => {
    expect(scrub(line)).toBe(scrubbed)
    expect(scrub(scrubbed)).toBe(scrubbed)
  })

  it.each(['caller', 'phone', 'Number', 'from', 'to', 'ani', 'dnis', 'destinationE164', 'msisdn'])(
    'a phone number in the field %s, where JSON has it as a number, and stays JSON',
    (name) => {
      const line = (number: string | number, depth: number) =>
        `{"level":30,"note":${json(JSON.stringify({ a: 1, [name]: number, b: 2 }), depth)}}`
      for (const depth of [0, 1, 2])
        for (const number of [3_125_550_123, 442_071_838_750])
          expect(scrub(line(number, depth))).toBe(line(`•••${String(number).slice(-4)}`, depth))
    },
  )

  it.each(['password', 'currentPassword', 'client_secret', 'x-api-key', 'sessionToken', 'Authorization', 'set-cookie'])(
    'the field %s of JSON text, and of JSON text within it',
    (name) => {
      const values = ['hunter2', 'a"b\\', '\\', '"', 'é\n', ['hunter2'], 4_711, -1.5e3]
      for (const value of values) {
        const line = (shown: unknown, depth: number) =>
          `{"level":30,"note":${json(JSON.stringify({ a: 1, [name]: shown, b: 'c' }), depth)},"last":"kept"}`
        const masked = Array.isArray(value) ? ['•••'] : '•••'
        for (const depth of [0, 1, 2, 3]) expect(scrub(line(value, depth)), name).toBe(line(masked, depth))
      }
    },
  )

  it('the rest of JSON text that is cut off within a secret', () => {
    expect(scrub('{"note":"{\\"password\\":\\"hunt","last":"kept"}')).toBe(
      '{"note":"{\\"password\\":\\"•••\\","last":"kept"}',
    )
    expect(scrub('{"password":"hunt')).toBe('{"password":"•••"')
  })

  it('whatever the secret of a field is, and stays JSON', () => {
    const line = (password: string, note: string) =>
      JSON.stringify({ note, password, body: JSON.stringify({ password }), end: 1 })
    const plain = fc.string({ unit: fc.constantFrom(...'ab\\"{}:, é\n') })
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), plain, (password, note) => {
        const scrubbed: unknown = JSON.parse(scrub(line(password, note)))
        expect(scrubbed).toEqual({ note, password: '•••', body: '{"password":"•••"}', end: 1 })
      }),
    )
  })
})

describe('a log line keeps', () => {
  it.each<readonly [string, string]>([
    ['its time and level', '{"level":30,"time":1763850000123,"msg":"ready"}'],
    ['instants', '2026-11-22T21:51:15.123Z 2026-11-22T21:51:15+0530 20261122T215115Z 2026-11-22 21:51:15'],
    ['seconds since 1970', 'expires 1763850000, begun 1763850000.123 at 1763850000123'],
    ['ids', '0192d3a4-1234-7890-8123-442071838750 018f3125-5501-7123-8555-012345678901'],
    ['request ids', 'req_31255501231312555012331255501231'],
    ['hashes', '3125550123abcdef4155550199abcdef'],
    ['references', 'CA-3125550123 AU-4155550199 CA-0000000123'],
    ['ids of the carrier', '{"id":"1293384261075731499"}'],
    ['counts, sizes and prices', '{"position":3125550123,"bytes":21474836480,"amountCents":4155550199,"ms":12.5}'],
    ['counts within JSON text', String.raw`{"note":"{\"amountCents\":4155550199,\"n\": 3125550123}"}`],
    ['small numbers', 'read 1234567 rows in 890 ms, 12.50 USD, -500'],
    ['fractions', '3125550123.55 0.3125550123'],
    ['addresses', '203.0.113.9:8080 255.255.255.255 2001:db8::3125:5501'],
    ['versions', 'MongoDB 8.0.17, Node 24.11.1'],
    [
      'URLs without credentials',
      'mongodb://db:27017/ringledger esdb://events:2113?tls=false https://a.example/b@c?d=e@f',
    ],
    ['hosts of sip: addresses', 'sip:sip.example:5061'],
    ['words like those of secrets', 'Unexpected token } in JSON: secret, password and cookie are words; tokens=5'],
    ['fields of other kinds', '{"tokens":5,"secretHint":"a1","password":null,"token":true,"authorization":{"a":1}}'],
    ['prefixes alone', 'sess_ svc_live_•••'],
  ])('%s', (_what, line) => {
    expect(scrub(line)).toBe(line)
  })
})
