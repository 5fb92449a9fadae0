import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isBaseId } from '../../src/contract/ids.ts'
import {
  parseResourceUri,
  recordsUri,
  recordUri,
  runsUri,
  templatesOf,
  typeUri,
} from '../../src/mcp/protocol/resource-uri.ts'
import { CASES_TIMEOUT } from '../support/cases.ts'
import { forAll } from '../support/for-all.ts'

const base = fc.stringMatching(/^[a-z0-9][a-z0-9]{0,9}$/).filter(isBaseId)
const type = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,20}$/)
const id = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_.:-]{0,40}$/)

const text = fc.string({ unit: 'grapheme' })
const names = fc.record({ base, type, id, filter: text, cursor: text })
const escaped = (part: string) => part.replace(/[a-z.]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`)

test(
  'a URI made of names parses to the same names, with or without unnecessary escapes',
  { tags: 'sampled', timeout: CASES_TIMEOUT },
  () =>
    forAll(names, 200, async ({ base, type, id, filter, cursor }) => {
      const record = { kind: 'record', base, type, id }
      expect(parseResourceUri(typeUri(base, type))).toEqual({ kind: 'type', base, type })
      expect(parseResourceUri(recordUri(base, type, id))).toEqual(record)
      expect(parseResourceUri(`plinth://${base}/records/${escaped(type)}/${escaped(id)}`)).toEqual(record)
      const run = { kind: 'run', base, action: type, id }
      expect(parseResourceUri(`${runsUri(base, type)}/${id}`)).toEqual(run)
      const runs = parseResourceUri(runsUri(base, type, { cursor }))
      expect(runs).toEqual({ kind: 'runs', base, action: type, query: new Map([['cursor', cursor]]) })
      const query = new Map(Object.entries({ filter, cursor }))
      const list = parseResourceUri(recordsUri(base, type, { filter, cursor }))
      expect(list).toEqual({ kind: 'records', base, type, query })
    }),
)

describe('parseResourceUri returns undefined', () => {
  test.each([
    '',
    'plinth:',
    'plinth://',
    'plinth://crm',
    'plinth://crm/',
    'plinth://crm/types',
    'plinth://crm/types/',
    'plinth://crm/types/task/',
    'plinth://crm/types/task/a',
    'plinth://crm/types/task?filter=1',
    'plinth://crm/types/task#part',
    'plinth://crm//types/task',
    'plinth://crm/records/task/',
    'plinth://crm/records/task/a/b',
    'plinth://crm/records/task/a?filter=1',
    'plinth://crm/records/task/a%2Fb',
    'plinth://crm/records/task/%',
    'plinth://crm/records/task/%FF',
    'plinth://crm/records/task/%00',
    'plinth://crm/records/..',
    'plinth://crm/records/task?filter=1&filter=2',
    'plinth://crm/actions/win',
    'plinth://crm/actions/win/steps',
    'plinth://crm/actions/win/runs/',
    'plinth://crm/actions/win/runs/a/b',
    'plinth://crm/actions/win/runs/a?status=failed',
    'plinth://crm/records/task?=1',
    'plinth://crm/records/task?filter=%',
    'plinth://crm:80/types/task',
    'plinth://me@crm/types/task',
    'plinth://-crm/types/task',
    'plinth://crm/Types/task',
    ' plinth://crm/types/task',
    'plinth://crm/types/task\n',
    'http://crm/types/task',
    'file:///etc/passwd',
  ])('for %j', (uri) => expect(parseResourceUri(uri)).toBeUndefined())
})

test('a resource URI of more than 16 Ki characters is refused', () => {
  const long = (chars: number) => parseResourceUri(recordsUri('crm', 'task', { filter: 'x'.repeat(chars) }))
  expect(long(16_000)).toMatchObject({ kind: 'records' })
  expect(long(20_000)).toBeUndefined()
})

test('scheme and base of a resource URI are case-insensitive; type ids are not', () => {
  expect(parseResourceUri('PLINTH://CRM/types/Task')).toEqual({ kind: 'type', base: 'crm', type: 'Task' })
})

test('resource templates of one base contain its id; those of all bases contain {base}', () => {
  expect(templatesOf('crm').record).toBe('plinth://crm/records/{type}/{id}')
  expect(templatesOf(null).record).toBe('plinth://{base}/records/{type}/{id}')
})
