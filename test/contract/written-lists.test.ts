/** Lists that are written by hand, compared with the one in the code. CONTRIBUTING.md says where to add things. */
import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { OPERATOR_NAMES } from '../../src/contract/operators.ts'
import { KINDS } from '../../src/engine/configuration/kinds.ts'
import { KIND_SAMPLES } from '../support/kinds.ts'

const GUIDES = globSync('docs/*.md')
  .map((path) => readFileSync(path, 'utf8'))
  .join('\n')
const camelCase = (name: string) => name.replace(/_[a-z]/g, (each) => each.slice(1).toUpperCase())

/** Files that name each filter operator, and those that they leave out. */
test.each<[file: string, but: string[], spelled?: (name: string) => string]>([
  ['docs/query.md', []],
  ['packages/client/src/types.ts', []],
  ['packages/client/src/where.ts', []],
  // The operators of texts come from the list; `isNull` takes true or false.
  ['src/graphql/base/where-types.ts', ['like', 'ilike', 'is_not_null'], camelCase],
  ['test/rest/filters/operators.test.ts', []],
  // A search depends on the words of all records.
  ['test/support/reference.ts', ['search']],
])('%s names each filter operator', (file, but, spelled = String) => {
  const words = new Set(readFileSync(file, 'utf8').match(/\w+/g))
  expect(OPERATOR_NAMES.filter((name) => !words.has(spelled(name)))).toEqual(but)
})

/** Fields that tests of their own set: they need more than a body, or exclude another field. */
const ELSEWHERE: Readonly<Record<string, string[]>> = {
  record_type: ['indexes', 'sources'],
  trigger: ['action', 'secret'],
  inbound_webhook: ['secret'],
}

test.each(KINDS.map(({ name, body }) => [name, Object.keys(body.shape)] as const))(
  'the sample of %s sets each of its fields, and a guide names each',
  (name, fields) => {
    const { body } = KIND_SAMPLES[name] ?? {}
    expect(fields.filter((field) => !body || !(field in body)).sort()).toEqual(ELSEWHERE[name] ?? [])
    expect(
      fields.filter((field) => !GUIDES.includes(`\`${field}`) && !GUIDES.includes(`"${field}"`)),
    ).toEqual([])
  },
)

test.each(['docs/architecture.md', 'CONTRIBUTING.md'])('%s names files that exist', (page) => {
  const files = globSync('{src,web,packages,test,bin,schema,prisma,deploy}/**/*.{ts,tsx,mjs,prisma}').map(
    (path) => `/${path}`,
  )
  const named = [...readFileSync(page, 'utf8').matchAll(/`([\w/.-]+\.(?:tsx?|mjs|prisma))`/g)].map(
    ([, name = '']) => name,
  )
  expect(named.length).toBeGreaterThan(20)
  expect(named.filter((name) => !files.some((path) => path.endsWith(`/${name}`)))).toEqual([])
})

test('a guide names each MCP tool', () => {
  const addresses = JSON.parse(readFileSync('schema/tools.json', 'utf8')) as Record<
    string,
    { name: string }[]
  >
  const names = Object.values(addresses).flatMap((tools) => tools.map(({ name }) => name))
  expect(names.length).toBeGreaterThan(30)
  expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(GUIDES))).toEqual([])
})

test('each decision record has a number of its own, in its name and its title', () => {
  const numbers = globSync('docs/adr/*.md').map((path) => ({
    name: Number(/(\d+)-[^/]*$/.exec(path)?.[1]),
    title: Number(/^# (\d+)\. /.exec(readFileSync(path, 'utf8'))?.[1]),
  }))
  expect(numbers.filter(({ name, title }) => name !== title)).toEqual([])
  expect(new Set(numbers.map(({ name }) => name)).size).toBe(numbers.length)
})
