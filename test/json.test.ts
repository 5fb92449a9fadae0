import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Detail, DomainError } from '../src/foundation/errors.ts'
import { isMultipleOf, survivesDouble } from '../src/json/decimal.ts'
import { checkJson, parseJson, pointer } from '../src/json/parse.ts'

function faults(run: () => unknown): readonly Detail[] {
  try {
    run()
  } catch (error) {
    if (error instanceof DomainError && error.code === 'VALIDATION_ERROR') return error.details
    throw error
  }
  return []
}

const refusal = (text: string | Buffer, at?: string) =>
  faults(() => parseJson(text, at)).map(({ path, code }) => `${code} ${path}`)

describe('parseJson', () => {
  test('any JSON value is parsed as by JSON.parse', { tags: 'full' }, () => {
    const safe = fc
      .jsonValue({ noUnicodeString: false })
      .filter((value) => !/__proto__|\\u/.test(JSON.stringify(value)))
    fc.assert(
      fc.property(safe, fc.constantFrom(undefined, 2), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        expect(parseJson(text)).toEqual(JSON.parse(text))
        expect(parseJson(Buffer.from(text))).toEqual(JSON.parse(text))
      }),
    )
  })

  test('escapes, white space and repeated keys are parsed as by JSON.parse', () => {
    const text = ' {"a" : "\\u0041\\ud83d\\ude00\\n" , "a\\u0062":[ 1 , {} , [ ] ],"a":2}\r\n'
    expect(parseJson(text)).toEqual({ a: 2, ab: [1, {}, []] })
  })

  test('a number is accepted exactly when a double represents its decimal value', { tags: 'full' }, () => {
    const digits = fc.stringMatching(/^[0-9]{1,25}$/)
    const token = fc
      .tuple(fc.boolean(), digits, fc.option(digits), fc.option(fc.integer({ min: -330, max: 330 })))
      .map(([minus, whole, fraction, exponent]) => {
        const integer = whole.replace(/^0+(?=\d)/, '')
        return `${minus ? '-' : ''}${integer}${fraction ? `.${fraction}` : ''}${exponent === null ? '' : `e${exponent}`}`
      })
    fc.assert(
      fc.property(token, (token) => {
        expect(refusal(token)).toEqual(sameValue(token) ? [] : ['unsafe_number '])
        expect(refusal(`{"a":[0, ${token}]}`)).toEqual(sameValue(token) ? [] : ['unsafe_number /a/1'])
      }),
      { numRuns: 2000 },
    )
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (n) => survivesDouble(String(n))),
    )
  })

  test.each([
    '1e21',
    '0.1',
    '-0',
    '5e-324',
    '1.7976931348623157e308',
    '1.0',
    '1E2',
    `1${'0'.repeat(23)}`,
    '0e999',
  ])('%s is accepted', (token) => expect(parseJson(`{"n":${token}}`)).toEqual({ n: Number(token) }))

  test.each(['9007199254740993', '1e400', '0.10000000000000000001', '1e-400', '-123456789.123456789'])(
    '%s is refused, with the string to send as hint',
    (token) => {
      const [detail] = faults(() => parseJson(`{"a":"x","n/m":[1,${token}]}`, '/body'))
      expect(detail).toMatchObject({ path: '/body/n~1m/1', code: 'unsafe_number', hint: `"${token}"` })
    },
  )

  test('digits inside a string are not checked as a number', () => {
    const text = JSON.stringify({
      card: 'card: 9007199254740993, 1e400',
      id: '019a3c2e-1e5f-7abc-9def-012345678901',
    })
    expect(parseJson(text)).toEqual(JSON.parse(text))
  })

  test.each([
    ['{"a":["\\u0000"]}', 'invalid_string /a/0'],
    ['{"a\\u0000":1}', 'invalid_string /a\u0000'],
    ['{"a":"\\ud800"}', 'invalid_string /a'],
    ['{"\\uDC00x":1}', 'invalid_string /\ufffdx'],
    ['{"a":"\ud800"}', 'invalid_string /a'],
    ['{"a":{"__proto__":1}}', 'forbidden_key /a/__proto__'],
    ['{"\\u005f_proto__":1}', 'forbidden_key /__proto__'],
    ['{"\\u005F\\u005fpro\\u0074o__":1}', 'forbidden_key /__proto__'],
  ])('%s is refused', (text, expected) => expect(refusal(text)).toEqual([expected]))

  test('a string value "__proto__" is accepted', () =>
    expect(parseJson('["__proto__"]')).toEqual(['__proto__']))

  test('64 levels are accepted, and level 65 is refused with its path', () => {
    const nested = (levels: number) =>
      '{"a":['.repeat(levels / 2) + '['.repeat(levels % 2) + ']'.repeat(levels % 2) + ']}'.repeat(levels / 2)
    expect(refusal(nested(64))).toEqual([])
    expect(refusal(nested(65), '/x')).toEqual([`too_deep /x${'/a/0'.repeat(32)}`])
    const flat = JSON.stringify(Array(200).fill({ text: '[[[[{{{{' }))
    expect(refusal(flat)).toEqual([])
  })

  test('100,000 levels are refused without a stack overflow', () => {
    for (const opening of ['[', '{"a":']) expect(refusal(opening.repeat(100_000))[0]).toMatch(/^too_deep/)
    expect(refusal('['.repeat(100_000) + ']'.repeat(100_000))[0]).toMatch(/^too_deep/)
  })

  test.each([
    '',
    ' ',
    '{',
    '[1,]',
    '{"a":1,}',
    "{'a':1}",
    '[1 2]',
    '{"a" 1}',
    '{"a":1]',
    '"a',
    '"\n"',
    '"\\x"',
    '01',
    '1.',
    '.5',
    '+1',
    'NaN',
    'tru',
    '[1]x',
    '{,}',
    '[,1]',
    '\v1',
    '{a:1}',
    '1e',
    '"\\ud8"',
  ])('%j is malformed_json', (text) => expect(refusal(text, '/body')).toEqual(['malformed_json /body']))

  test('a text is malformed_json exactly when JSON.parse refuses it', { tags: 'full' }, () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '1',
      '-',
      '.5',
      'e3',
      'null',
      ' ',
      '\\',
      '"',
      'x',
    )
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
        let parses = true
        try {
          JSON.parse(parts.join(''))
        } catch {
          parses = false
        }
        expect(refusal(parts.join('')).includes('malformed_json ')).toBe(!parses)
      }),
      { numRuns: 3000 },
    )
  })

  test('the error has the line, the column and the correction', () => {
    const [detail] = faults(() => parseJson('{\n  "a": 1,\n}'))
    expect(detail?.message).toBe('The JSON is malformed at line 3, column 1. Remove the comma before it.')
  })

  test('invalid UTF-8 is refused', () => {
    for (const bytes of [
      [0x22, 0xff, 0x22],
      [0x22, 0xc0, 0x80, 0x22],
      [0x22, 0xed, 0xa0, 0x80, 0x22],
      [0x22, 0xe2, 0x82],
    ]) {
      expect(refusal(Buffer.from(bytes), '/data')).toEqual(['invalid_utf8 /data'])
    }
  })

  test('one byte order mark is skipped, and two are refused', () => {
    expect(parseJson(Buffer.from('\ufeff{}'))).toEqual({})
    expect(refusal(Buffer.from('\ufeff\ufeff{}'))).toEqual(['malformed_json '])
  })

  test('all faults are reported, up to twenty', () => {
    expect(refusal('{"__proto__":"\\u0000","n":1e400}')).toEqual([
      'forbidden_key /__proto__',
      'invalid_string /__proto__',
      'unsafe_number /n',
    ])
    expect(refusal(`[${Array(50).fill('1e400').join(',')}]`)).toHaveLength(20)
  })

  test('an error repeats at most fifty characters of the text', () => {
    const long = '7'.repeat(500)
    for (const text of [`[${long}]`, `{"${long}":"\\u0000"}`, `{"${long}"`, `[${long}x]`]) {
      for (const { message, hint } of faults(() => parseJson(text))) {
        expect(`${message}${hint ?? ''}`).not.toContain(long.slice(0, 51))
      }
    }
  })
})

describe('checkJson', () => {
  const check = (value: unknown) =>
    faults(() => checkJson(value, '/v')).map(({ path, code }) => `${code} ${path}`)

  test('a value is refused with the faults of its JSON text', () => {
    const textsFaults = (value: unknown) =>
      faults(() => parseJson(JSON.stringify(value), '/v')).map(({ path, code }) => `${code} ${path}`)
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(check(value).toSorted()).toEqual(textsFaults(value).toSorted())
      }),
      { numRuns: 1000, examples: [[JSON.parse('[{"":{"__proto__":0}}]')], [{ a: '\ud800' }]] },
    )
  })

  test('a value without a __proto__ key is accepted', () => {
    const plain = fc.jsonValue().filter((value) => !JSON.stringify(value).includes('"__proto__":'))
    fc.assert(fc.property(plain, (value) => check(value).length === 0))
  })

  test('strings, keys, numbers and depth follow the same rules as in parseJson', () => {
    const value = { a: ['\u0000', Number.NaN], 'b\ud800': 1, c: undefined, d: 10n, ['__proto__']: 1 }
    expect(check(value)).toEqual([
      'forbidden_key /v/__proto__',
      'invalid_string /v/b\ufffd',
      'invalid_string /v/a/0',
      'not_json /v/a/1',
      'not_json /v/c',
      'not_json /v/d',
    ])
  })

  test('a circular value is too_deep', () => {
    const loop: unknown[] = []
    loop.push(loop, loop)
    expect(check(loop)).toEqual([`too_deep /v${'/0'.repeat(64)}`])
  })
})

test('pointer escapes its segments', () => {
  expect(pointer('a/b', 0, '~', '')).toBe('/a~1b/0/~0/')
  expect(pointer()).toBe('')
})

test('isMultipleOf decides in decimal', () => {
  expect(isMultipleOf(19.99, 0.01)).toBe(true)
  expect(isMultipleOf(19.995, 0.01)).toBe(false)
  expect(isMultipleOf(-1e308, 5e-324)).toBe(true)
  expect(isMultipleOf(0, 7)).toBe(true)
  expect(isMultipleOf(7.5, 2.5)).toBe(true)
})

/** An independent oracle: both decimals as integers of 10^-1000. */
function sameValue(token: string): boolean {
  const printed = String(Number(token))
  return Number.isFinite(Number(token)) && scaled(token) === scaled(printed)
}

function scaled(token: string): bigint {
  const [, minus, whole, fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/.exec(token) ?? []
  const value = BigInt(`${whole}${fraction}`) * 10n ** BigInt(1000 + Number(exponent) - fraction.length)
  return minus ? -value : value
}
