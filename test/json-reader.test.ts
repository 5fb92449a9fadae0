import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DomainError } from '../src/foundation/errors.ts'
import { LIMITS } from '../src/foundation/limits.ts'
import { parseJson, parseLargeJson } from '../src/json/parse.ts'
import { Reader } from '../src/json/reader.ts'
import { cases } from './support/cases.ts'

const sound = (text: string) => {
  parseJson(text)
  return true
}
/** The JSON read in slices of the given length and printed again, or null when it is refused. */
const inSlices = (text: string, slice: number): Promise<string | null> =>
  new Reader(text, sound, slice).read().then(JSON.stringify, () => null)

function whole(text: string): string | null {
  try {
    const value = parseJson(text)
    return typeof value === 'object' && value !== null ? JSON.stringify(value) : null
  } catch {
    return null
  }
}

const space = fc.constantFrom('', '', ' ', '\n', '\t\r ')
/** JSON text with irregular white space, repeated keys, escapes and all number forms. */
const { text: json } = fc.letrec<{ text: string }>((tie) => ({
  text: fc
    .tuple(
      space,
      fc.oneof(
        { depthSize: 'large', withCrossShrink: true },
        fc.constantFrom('1', '-0.5', '1e300', '123456789012345678', '1e400', 'true', 'null', '"a"'),
        fc.constantFrom('"\\"]"', '"\\\\"', '"}{,"', '"\\u0000"', '"\\ud83d\\ude00"', '"\\ud83d"'),
        fc.array(tie('text'), { maxLength: 6 }).map((items) => `[${items.join(',')}]`),
        fc
          .array(fc.tuple(fc.constantFrom('"a"', '"b"', '"1"', '"\\u0061"', '"__proto__"'), tie('text')))
          .map((members) => `{${members.map(([key, value]) => `${key} :${value}`).join(',')}}`),
      ),
      space,
    )
    .map((parts) => parts.join('')),
}))

describe('JSON text read in slices', () => {
  test('has the same value as text read at once', { tags: ['full', 'sampled'] }, async () => {
    await fc.assert(
      fc.asyncProperty(json, fc.integer({ min: 1, max: 40 }), async (text, slice) => {
        expect(await inSlices(text, slice)).toBe(whole(text))
      }),
      { numRuns: cases(1000) },
    )
  })

  test('is refused for a member that a later one of the same name replaces', async () => {
    const pad = 'x'.repeat(LIMITS.jsonAtOnceBytes)
    const text = (member: string) => Buffer.from(`{"pad":"${pad}","in":{"b":${member},"b":1}}`)
    await expect(parseLargeJson(text('"\\u0000"'))).rejects.toThrow('Remove the')
    expect(await parseLargeJson(text('"\\u0001"'))).toMatchObject({ in: { b: 1 } })
  })

  test('is refused exactly when text read at once is refused, after any edit', {
    tags: ['full', 'sampled'],
  }, async () => {
    const edit = fc.tuple(
      fc.nat(),
      fc.nat({ max: 3 }),
      fc.constantFrom('', ',', ']', '}', '[', '{', ':', '"'),
    )
    await fc.assert(
      fc.asyncProperty(json, edit, fc.integer({ min: 1, max: 20 }), async (text, [at, cut, put], slice) => {
        const start = at % (text.length + 1)
        const edited = text.slice(0, start) + put + text.slice(start + cut)
        expect(await inSlices(edited, slice)).toBe(whole(edited))
      }),
      { numRuns: cases(2000) },
    )
  })

  test.each([
    '[1,]',
    '[,1]',
    '[1,,2]',
    '{"a":1,}',
    '{,}',
    '[[1] [2]]',
    '[[1]2]',
    '[1}',
    '[',
    '[1] 2',
    '{"a"1}',
  ])('is refused in slices of any length: %s', async (text) => {
    for (let slice = 1; slice < 8; slice++) expect(await inSlices(text, slice)).toBeNull()
  })
})

const large = (text: string) => parseLargeJson(Buffer.from(text))
const refused = async (text: string) => {
  const thrown: unknown = await large(text).catch((error: unknown) => error)
  if (!(thrown instanceof DomainError)) throw new Error('It was not refused')
  return thrown.details.map(({ path, code }) => `${code} ${path}`)
}
const many = (item: string, times: number) => Array.from({ length: times }, () => item).join(',')

describe('a JSON body of megabytes', { tags: 'full' }, () => {
  test('is refused with the same codes and paths as a small body', async () => {
    const text = `{"a":[${many('{"n":1.5,"s":"x"}', 40_000)},{"n":12345678901234567890}]}`
    expect(await refused(text)).toEqual(['unsafe_number /a/40000/n'])
    expect(await refused(text.replace('12345678901234567890', '"\\u0000"'))).toEqual([
      'invalid_string /a/40000/n',
    ])
    expect(await refused(text.replace('"n":12345678901234567890', '"__proto__":1'))).toEqual([
      'forbidden_key /a/40000/__proto__',
    ])
    expect(await refused(text.slice(0, -1))).toEqual(['malformed_json '])
    expect(await refused('['.repeat(5_000_000))).toEqual([`too_deep ${'/0'.repeat(64)}`])
  })

  test('is refused with too many objects and arrays, values, or members of one object', async () => {
    expect(await refused(`[${many('[]', LIMITS.jsonContainers)}]`)).toEqual(['too_many_containers '])
    expect(await refused(`[${many('1', LIMITS.jsonValues + 2)}]`)).toEqual(['too_many_values '])
    const keys = Array.from({ length: LIMITS.jsonMembers + 1 }, (_, n) => `"k${n}":${n}`)
    expect(await refused(`{"a":[0,{"b":{${keys}}}]}`)).toEqual(['too_many_members /a/1/b'])
    expect(Object.keys((await large(`{${keys.slice(1)}}`)) as object)).toHaveLength(LIMITS.jsonMembers)
  })

  test.each([
    ['numbers', `[${many('1e300', 400_000)}]`],
    ['empty objects', `[${many('{}', 400_000)}]`],
    ['arrays in arrays', `[${many('[[[[1]]]]', 90_000)}]`],
    ['surrogates', `[${many('"\\ud83d\\ude00"', 150_000)}]`],
    ['objects', `{"operations":[${many('{"type":"x","data":{"a":[1,2,{"b":null}]}}', 50_000)}]}`],
  ])('with %s yields to the event loop while it is parsed', async (_, text) => {
    let turns = 0
    let over = false
    const count = () => {
      turns++
      if (!over) setImmediate(count)
    }
    setImmediate(count)
    const value = await large(text)
    over = true
    expect(value).toEqual(JSON.parse(text))
    expect(turns).toBeGreaterThan(0)
  })
})
