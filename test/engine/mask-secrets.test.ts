/** Secrets in the answers of receivers are hidden, in each form that a receiver echoes them. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { maskSecrets } from '../../src/engine/storage/vault/mask.ts'
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
const base64 = (text: string) => Buffer.from(text).toString('base64')
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
  'in base64': base64,
  'in base64 without padding': (secret) => base64(secret).replaceAll('=', ''),
  'in base64url': (secret) => Buffer.from(secret).toString('base64url'),
  'in base64 in a URL': (secret) => encodeURIComponent(base64(secret)),
  'in base64 in JSON with \\/': (secret) => base64(secret).replaceAll('/', '\\/'),
  'in base64 in JSON in a URL': (secret) => encodeURIComponent(inJson(base64(secret))),
  'in hexadecimal': (secret) => Buffer.from(secret).toString('hex'),
  'in upper-case hexadecimal': (secret) => Buffer.from(secret).toString('hex').toUpperCase(),
}

test.each(Object.entries(FORMS))('a secret %s is hidden', async (_, write) => {
  for (const secret of SECRETS) {
    const masked = await maskSecrets(`before ${write(secret)} after`, [secret, 'another'])
    expect(masked, secret).toBe('before <redacted> after')
  }
})

test('no random secret is left in any form, and the rest of the text stays', { tags: 'full' }, async () => {
  const secret = fc
    .string({ unit: 'binary', minLength: 4, maxLength: 40 })
    .filter((text) => text.isWellFormed())
  await forAll(fc.tuple(secret, fc.constantFrom(...Object.values(FORMS))), 500, async ([text, write]) => {
    const masked = await maskSecrets(`start-${write(text)}-end`, [text])
    expect(masked).not.toContain(write(text))
    expect(masked.startsWith('start') && masked.endsWith('end')).toBe(true)
  })
})

test('in base64 of a longer text, exactly the characters that have bits of the secret are hidden', async () => {
  const text = (minLength: number) => fc.string({ unit: 'grapheme-ascii', minLength, maxLength: 20 })
  const around = fc.tuple(text(0), text(4), text(1), fc.constantFrom('base64' as const, 'base64url' as const))
  await forAll(around, 500, async ([before, secret, after, encoding]) => {
    fc.pre(
      !`${before}${secret}`.slice(0, -1).includes(secret) && !`${secret}${after}`.slice(1).includes(secret),
    )
    const encoded = Buffer.from(before + secret + after).toString(encoding)
    const [from, to] = [before.length, before.length + secret.length].map((bytes) => (bytes * 8) / 6)
    const end = encoded.slice(Math.ceil(to as number))
    const expected = `${encoded.slice(0, Math.floor(from as number))}<redacted>${end.replace(/^=+/, '')}`
    expect(await maskSecrets(`in ${encoded}, so`, [secret])).toBe(`in ${expected}, so`)
  })
})

test('a basic credential is hidden with the secret that it has', async () => {
  const sent = base64('user:AbC/dEf+gH==')
  expect(await maskSecrets(`{"authorization":"Basic ${sent}"}`, ['AbC/dEf+gH=='])).toBe(
    '{"authorization":"Basic dXNlcj<redacted>"}',
  )
})

test('the encoded forms of a secret of three characters are too short to be looked for', async () => {
  for (const text of ['abc', 'a-c']) expect(await maskSecrets(base64(text), [text])).toBe(base64(text))
})

test('of a cut text, the end is hidden whatever it is, as long as the longest form of the secret', async () => {
  const secret = 'AbC/dEf+gH=='
  const escaped = (text: string) =>
    text.replace(/./g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
  const hidden = 6 * secret.length
  for (const start of ['AbC/dE', escaped('AbC/dEf+gH='), 'AbC%2FdE', 'QWJDL2', '4162432f', 'another', '']) {
    const text = `${'x'.repeat(100)}${start}`
    expect(await maskSecrets(text, [secret], true)).toBe(`${text.slice(0, -hidden)}<redacted>`)
  }
  expect(await maskSecrets(`${secret}${'x'.repeat(100)}`, [secret], true)).toBe(
    `<redacted>${'x'.repeat(100 - hidden)}<redacted>`,
  )
  expect(await maskSecrets('short', [secret], true)).toBe('<redacted>')
  expect(await maskSecrets('short', [], true)).toBe('short')
})

test('JSON stays JSON, and text without the secret stays as it is', async () => {
  const answer = '{"k":"\\/path+%20\\n","n":"AbC\\/dEf\\u002BgH=="}'
  expect(JSON.parse(await maskSecrets(answer, ['AbC/dEf+gH==']))).toEqual({
    k: '/path+%20\n',
    n: '<redacted>',
  })
  expect(await maskSecrets('a\\b%20+%zz', ['other'])).toBe('a\\b%20+%zz')
})

test('a text of megabytes is masked in turns of the event loop', { tags: 'full' }, async () => {
  let passes = 0
  const timer = setInterval(() => passes++, 1)
  const text = '%41+'.repeat(1024 * 1024)
  const masked = await maskSecrets(`${text}${encodeURIComponent('pass word!')}${text}`, ['pass word!'])
  clearInterval(timer)
  expect(masked).toBe(`${text}<redacted>${text}`)
  expect(passes).toBeGreaterThan(10)
})

test('a secret that is in a text hundreds of thousands of times is hidden each time', {
  tags: 'full',
}, async () => {
  expect(await maskSecrets('abcd,'.repeat(300_000), ['abcd'])).toBe('<redacted>,'.repeat(300_000))
})
