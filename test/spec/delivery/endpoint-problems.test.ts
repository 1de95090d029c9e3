import { describe, expect, it, test } from 'vitest'
import type { EndpointSettings } from '../../../src/domain/delivery/delivery-request.ts'
import { endpointProblems, vettedUrl } from '../../../src/domain/delivery/endpoint-problems.ts'
import { SAMPLE_CALLER_HASH } from '../../../src/domain/delivery/sample.ts'
import { WEBHOOK } from '../../../src/domain/shared/limits.ts'

const webhook: EndpointSettings = {
  kind: 'webhook',
  method: 'POST',
  url: 'https://a.example/in',
  headers: {},
  bodyTemplate: null,
}
const get: EndpointSettings = { ...webhook, kind: 'pixel', method: 'GET' }
const post: EndpointSettings = { ...get, method: 'POST' }
const fields = (settings: EndpointSettings) => Object.keys(endpointProblems(settings) ?? {})
const form = { 'Content-Type': 'application/x-www-form-urlencoded' }

describe('settings of an endpoint', () => {
  test.each<[string, EndpointSettings]>([
    ['a webhook', webhook],
    ['a webhook with macros in its headers', { ...webhook, headers: { 'x-a': '{{call.ref}} {{tag.any}}' } }],
    ['a GET pixel', get],
    ['a pixel with macros in its path', { ...get, url: 'https://a.example/{{call.ref}}' }],
    ['a pixel with macros in its query', { ...get, url: 'http://a.example:8080?r={{call.ref}}' }],
    ['a pixel with a literal brace', { ...get, url: 'https://a.example/?{{{call.nope}}' }],
    ['a POST pixel', post],
    ['a template of JSON', { ...post, bodyTemplate: '{"a":"{{tag.a}}","r":{{call.revenue}},"c":{{call.converted}}}' }],
    ['a template of a form', { ...post, headers: form, bodyTemplate: 'a={{tag.a}}' }],
    ['a template of text', { ...post, headers: { 'content-type': 'text/plain' }, bodyTemplate: '{' }],
  ])('are valid: %s', (_what, settings) => {
    expect(endpointProblems(settings)).toBeNull()
  })

  test.each<[string, EndpointSettings, readonly string[]]>([
    ['a webhook by GET', { ...webhook, method: 'GET' }, ['method']],
    ['a macro in the path of a webhook', { ...webhook, url: 'https://a.example/{{call.ref}}' }, ['url']],
    ['a macro in the host', { ...get, url: 'https://{{tag.host}}/p' }, ['url']],
    ['a macro at the end of the host', { ...get, url: 'https://a.example{{call.ref}}' }, ['url']],
    ['a macro before the query', { ...get, url: 'https://a.example{{call.ref}}?a=1' }, ['url']],
    ['a macro in the port', { ...get, url: 'https://a.example:{{tag.port}}/' }, ['url']],
    ['a macro before the host', { ...get, url: 'https://{{tag.user}}@a.example/' }, ['url']],
    ['a macro behind more slashes', { ...get, url: 'https:////{{tag.host}}/p' }, ['url']],
    ['a macro behind backslashes', { ...get, url: 'https://\\{{tag.host}}/p' }, ['url']],
    ['a macro that hides the end of the host', { ...get, url: 'https://{{tag.a/b}}/p' }, ['url', 'macros']],
    ['a literal brace in the host', { ...get, url: 'https://{{{a.example/p' }, ['url']],
    ['an unknown macro of a URL', { ...get, url: 'https://a.example/{{call.nope}}' }, ['macros']],
    ['an unknown macro of a header', { ...webhook, headers: { 'x-a': '{{bid.id}}' } }, ['macros']],
    ['a malformed macro of a template', { ...post, bodyTemplate: '"{{call ref}}"' }, ['macros']],
    ['a template of a webhook', { ...webhook, bodyTemplate: '{}' }, ['bodyTemplate']],
    ['a template of a GET pixel', { ...get, bodyTemplate: '{}' }, ['bodyTemplate']],
    ['a template that is no JSON', { ...post, bodyTemplate: '{' }, ['bodyTemplate']],
    ['a template with nothing for a tag', { ...post, bodyTemplate: '{"a":{{tag.a}}}' }, ['bodyTemplate']],
    [
      'a template of JSON by its header',
      { ...post, headers: { 'content-type': 'application/vnd.api+json' }, bodyTemplate: 'a={{tag.a}}' },
      ['bodyTemplate'],
    ],
    ['a header of the connection', { ...webhook, headers: { Connection: 'close' } }, ['headers']],
    ['a header of the platform', { ...webhook, headers: { 'SVC-Event': 'a' } }, ['headers']],
    ['a header of two lines', { ...webhook, headers: { 'x-a': 'a\r\nb' } }, ['headers']],
  ])('are refused: %s', (_what, settings, wrong) => {
    expect(fields(settings)).toEqual(wrong)
  })

  it('are refused with each unknown token by its name, from wherever it stands', () => {
    const settings = {
      ...post,
      url: 'https://a.example/{{call.nope}}',
      headers: { 'x-a': '{{ x }}{{call.nope}}' },
      bodyTemplate: '"{{call ref}}"',
    }
    expect(endpointProblems(settings)).toEqual({ macros: 'unknown: {{call.nope}}, {{x}}, {{call ref}}' })
    expect(endpointProblems({ ...get, url: 'https://a.example/{{call.nope}}' })).toEqual({
      macros: 'unknown: {{call.nope}}',
    })
  })

  it('are refused in a short sentence, however many and long their tokens are', () => {
    const tokens = Array.from({ length: 100 }, (_, n) => `{{${'x'.repeat(60)}${n}}}`).join('')
    const { macros = '' } = endpointProblems({ ...post, headers: { 'x-a': tokens } }) ?? {}
    expect(macros).toMatch(/ and 90 more$/)
    expect(macros.length).toBeLessThan(400)
  })

  it('are refused with the name of each header that is wrong', () => {
    const problems = endpointProblems({ ...webhook, headers: { te: 'a', 'svc-a': 'b', 'x-a': 'c' } })
    expect(problems?.headers).toMatch(/^te: .+ svc-a: .+$/)
  })

  it('are judged in linear time when they are hostile', { timeout: 20_000 }, () => {
    for (const part of ['{', '{{', '{{ ', '{{a', '{{tag.a}}', '[', '{{{'])
      endpointProblems({ ...post, bodyTemplate: part.repeat(WEBHOOK.template) })
  })
})

describe('the vetted URL', () => {
  it('of a pixel is its template with the sample', () => {
    const url = 'https://a.example/{{call.ref}}?c={{caller.e164}}&t={{tag.none}}'
    expect(vettedUrl({ ...get, url })).toBe(`https://a.example/CA-0000004821?c=${SAMPLE_CALLER_HASH}&t=`)
  })

  it('of a webhook is its own', () => {
    expect(vettedUrl(webhook)).toBe(webhook.url)
  })
})
