/** Secrets in the answers of receivers are hidden, in each form that a receiver echoes them. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { maskSecrets } from '../../src/engine/vault/mask.ts'
import { forAll } from '../support/for-all.ts'

const SECRETS = [
  'AbC/dEf+gH==',
  'sk-"quote\\x-9f8e7d',
  '-----BEGIN\nline2\n-----END',
  'pass word!(1)',
  'Zürich-9 €',
  'a%2Fb%25',
]

const inJson = (text: string) => JSON.stringify(text).slice(1, -1)
const unicode = (text: string) =>
  text
    .split('')
    .map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
const FORMS: Readonly<Record<string, (secret: string) => string>> = {
  'as it is': (secret) => secret,
  'as JSON': inJson,
  'as JSON with \\/': (secret) => inJson(secret).replaceAll('/', '\\/'),
  'as JSON with \\u escapes': unicode,
  'as JSON with upper-case \\u escapes': (secret) =>
    unicode(secret).replace(/[a-f]/g, (hex) => hex.toUpperCase()),
  'as JSON in JSON': (secret) => inJson(inJson(secret)),
  'in a URL': encodeURIComponent,
  'in a URL with lower-case digits': (secret) =>
    encodeURIComponent(secret).replace(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase()),
  'in a form': (secret) => new URLSearchParams({ k: secret }).toString().slice(2),
  'in a URL in JSON': (secret) => inJson(encodeURIComponent(secret)),
}

test.each(Object.entries(FORMS))('a secret %s is hidden', (_, write) => {
  for (const secret of SECRETS) {
    const masked = maskSecrets(`before ${write(secret)} after`, [secret, 'another'])
    expect(masked, secret).toBe('before <redacted> after')
  }
})

test('no random secret is left in any form, and the rest of the text stays', async () => {
  const secret = fc
    .string({ unit: 'binary', minLength: 4, maxLength: 40 })
    .filter((text) => text.isWellFormed())
  await forAll(fc.tuple(secret, fc.constantFrom(...Object.values(FORMS))), 500, async ([text, write]) => {
    const masked = maskSecrets(`start-${write(text)}-end`, [text])
    expect(masked).not.toContain(write(text))
    expect(masked.startsWith('start') && masked.endsWith('end')).toBe(true)
  })
})

test('the start of a secret at the cut end of a text is hidden, with escapes too', () => {
  for (const cut of ['before AbC/dE', 'before AbC\\/dE', 'before AbC%2FdE'])
    expect(maskSecrets(cut, ['AbC/dEf+gH=='], true)).toBe('before <redacted>')
})

test('JSON stays JSON, and text without the secret stays as it is', () => {
  const answer = '{"k":"\\/path+%20\\n","n":"AbC\\/dEf\\u002BgH=="}'
  expect(JSON.parse(maskSecrets(answer, ['AbC/dEf+gH==']))).toEqual({ k: '/path+%20\n', n: '<redacted>' })
  expect(maskSecrets('a\\b%20+%zz', ['other'])).toBe('a\\b%20+%zz')
})
