import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { FAILURES } from '../../src/foundation/errors.ts'

const page = readFileSync('docs/errors.md', 'utf8')
const [failures = '', details = ''] = page.split('## Details')
const source = globSync('src/**/*.ts', { exclude: (path) => String(path).includes('engine/prisma') }).map(
  (file) => readFileSync(file, 'utf8'),
)
const rows = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map((found) => found.slice(1))

test('docs/errors.md lists exactly the error codes of the code, with their status', () => {
  const documented = rows(failures, /^\| *(\d{3}) *\| *`([A-Z_]+)` *\|/gm).map(([status, code]) => [
    code,
    Number(status),
  ])
  expect(Object.fromEntries(documented)).toEqual(
    Object.fromEntries(Object.entries(FAILURES).map(([code, { status }]) => [code, status])),
  )
})

test('every detail code in the source is documented', () => {
  const documented = new Set(rows(details, /^\| *`([a-z_0-9]+)` *\|/gm).flat())
  const given = new Set(
    source.flatMap((text) => [
      ...rows(text, /\b(?:code|notFound|unknown): '([a-z][a-z_0-9]*)'/g).flat(),
      ...rows(text, /\bcode: [^,;'{}]+ \? '([a-z_0-9]+)' : '([a-z_0-9]+)'/g).flat(),
    ]),
  )
  // Internal to the shapes: `check.ts` replaces it with `type` or `required`.
  given.delete('invalid_type')
  expect([...given].filter((code) => code && !documented.has(code))).toEqual([])
})

test('every documented detail code is in the source', () => {
  const documented = rows(details, /^\| *`([a-z_0-9]+)` *\|/gm).flat()
  expect(documented.filter((code) => !source.some((text) => text.includes(`'${code}'`)))).toEqual([])
})
