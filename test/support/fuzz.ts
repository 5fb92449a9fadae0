/** Changed samples of requests: what is put into them, and what must not come out. `PLINTH_TEST_FUZZ` says how many. */
import fc from 'fast-check'
import { cases } from './cases.ts'
import { SEED } from './seed.ts'

const LANES = 8

/** Values that programs trip over. */
export const odd: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    ...[null, true, '', ' ', '\u0000', '\ud800', '__proto__', 'constructor', "'; --", '%', '../..', '$1'],
    ...[
      0,
      -1,
      0.5,
      1e308,
      2 ** 53,
      2 ** 63,
      -(2 ** 31) - 1,
      [],
      {},
      [[]],
      [null],
      { __proto__: null, toString: 1 },
    ],
    ...['9'.repeat(40), 'x'.repeat(5000), '٣', '2024-02-30', '1e999', '🙂'.repeat(50), '*', 'a,b', 'data.'],
  ),
  fc.jsonValue({ maxDepth: 3 }),
)

/** The value with one place of it replaced, removed or doubled. */
export function changed(value: unknown, path: readonly number[], by: unknown, how: number): unknown {
  const [at = 0, ...rest] = path
  if (typeof value !== 'object' || value === null || path.length === 0) return by
  const keys = Object.keys(value)
  const key = keys[at % (keys.length + 1)] ?? 'unknown'
  if (Array.isArray(value))
    return how === 0
      ? [...value, ...value]
      : value.map((each, n) => (String(n) === key ? changed(each, rest, by, how) : each))
  const { [key]: old, ...others } = value as Record<string, unknown>
  return how === 1 ? others : { ...others, [key]: changed(old, rest, by, how) }
}

/** An object that no text can be made of: to print it unseen is a fault of the server. */
export const TEXTLESS = { toString: 1 }

/** The value as many times as it has places, each time with another one replaced. */
export function* replacedEach(value: unknown, by: unknown): Generator<unknown> {
  yield by
  if (typeof value !== 'object' || value === null) return
  for (const [key, inner] of Object.entries(value))
    for (const other of replacedEach(inner, by))
      yield Array.isArray(value)
        ? value.map((each, n) => (String(n) === key ? other : each))
        : { ...value, [key]: other }
}

// Statements of users read `records`, and examples in messages do, or `record_types`; those of the server read its own tables.
const LEAKS =
  /node_modules|\/src\/|\.ts:\d+|\bat \S+ \(|plinth\.\w+|SELECT .* FROM (?!record(?:s|_types)\b)|syntax error at|SQLSTATE|ECONN/

export const textOf = (value: unknown): string =>
  (typeof value === 'string' ? value : JSON.stringify(value)) ?? ''

/** What is wrong with an answer to a request with `by` in it, or null. */
export const faultIn = (status: number, text: string, by: unknown): string | null =>
  status >= 500 ||
  /code\\?": ?\\?"INTERNAL_ERROR/.test(text) ||
  (status >= 400 && LEAKS.test(text.replaceAll(textOf(by), '')))
    ? `${status}: ${text.slice(0, 300)}`
    : null

/** Sends changed samples, some at a time. Returns what was wrong. */
export async function fuzz<T>(
  changes: fc.Arbitrary<T>,
  all: number,
  send: (change: T) => Promise<string | null>,
): Promise<string[]> {
  const numRuns = Number(process.env['PLINTH_TEST_FUZZ'] ?? cases(all))
  const sent = fc.sample(changes, { seed: SEED, numRuns })
  const wrong: string[] = []
  const lane = async (first: number) => {
    for (const [n, change] of sent.entries()) {
      if (n % LANES !== first) continue
      const found = await send(change)
      if (found) wrong.push(`${JSON.stringify(change).slice(0, 300)} ${found}`)
    }
  }
  await Promise.all(Array.from({ length: LANES }, (_, first) => lane(first)))
  return wrong
}
