/** The data of the property tests: the countries of the world, and irregular records. */
import { expect } from 'vitest'
import { countries } from '../demo/country.ts'
import { succeed, times } from '../support/answers.ts'
import type { Json, JsonObject } from '../support/paths.ts'
import type { Row, Rules } from '../support/reference.ts'
import type { Body, Call } from '../support/server.ts'
import * as odd from './irregular-records.ts'

/** A record type with all its records as the server shows them, and the fields to query. */
export type Sample = { type: string; at: string; rows: Row[]; rules: Rules; fields: string[]; many: string[] }

const COLUMNS = ['id', 'external_id', 'external_source', 'status', 'version', 'created_at', 'updated_at']
const ODD_RECORDS = 220
/** Operations of a batch that loads records. */
const AT_ONCE = 50

const COUNTRY_FIELDS = [
  ...['data.name.common', 'data.name.official', 'data.region', 'data.subregion', 'data.flag', 'data.cca2'],
  ...[
    'data.area',
    'data.latlng[0]',
    'data.latlng[1]',
    'data.latlng[7]',
    'data.landlocked',
    'data.independent',
  ],
  ...['data.capital[0]', 'data.capital', 'data.borders', 'data.idd.root', 'data.idd', 'data.languages.fra'],
  ...[
    'data.currencies.EUR.name',
    'data.translations["zho"].official',
    'data.name.native.fra.common',
    'data.tld',
  ],
]
const COUNTRY_MANY = [
  'data.borders[]',
  'data.tld[]',
  'data.latlng[]',
  'data.altSpellings[]',
  'data.idd.suffixes[]',
]

/** Runs `work` on every item, `width` at a time. */
export async function inParallel<T>(
  items: Iterable<T>,
  work: (item: T) => Promise<unknown>,
  width = 16,
): Promise<void> {
  const rest = items[Symbol.iterator]()
  const lane = async () => {
    for (let next = rest.next(); !next.done; next = rest.next()) await work(next.value)
  }
  await Promise.all(times(width, lane))
}

export async function loadCountries(call: Call): Promise<Sample> {
  const contents = countries.map((country) => [country.cca3, plain(country)] as const)
  const fields = [...COUNTRY_FIELDS, ...COLUMNS]
  return load(call, 'country', contents, { timezone: 'UTC', json_schema: {} }, fields, COUNTRY_MANY)
}

export async function loadOdd(call: Call, seed: number): Promise<Sample> {
  const contents = odd.oddContents(seed, ODD_RECORDS).map((data, at) => [`r${at}`, data] as const)
  const fields = [...odd.FIELDS, ...COLUMNS]
  return load(call, 'odd', contents, { timezone: odd.TIMEZONE, json_schema: odd.SCHEMA }, fields, odd.MANY)
}

async function load(
  call: Call,
  type: string,
  contents: readonly (readonly [id: string, data: JsonObject])[],
  rules: Rules,
  fields: string[],
  many: string[],
): Promise<Sample> {
  const at = `/v1/crm/records/${type}`
  // The schema is set after the records, because it would refuse some of their strings.
  succeed(await call('PUT', `/v1/crm/record-types/${type}`, { timezone: rules.timezone }), 201)
  const operations = contents.flatMap(([id, data], index) => {
    const external =
      index % 3 === 0 ? { external_id: `e${index % 30}-${id}`, external_source: `s${index % 4}` } : {}
    const put = { type: 'upsert_record', record_type: type, id, data, ...external }
    return index % 7 === 0 ? [put, { type: 'cancel_record', record_type: type, id }] : [put]
  })
  for (let from = 0; from < operations.length; from += AT_ONCE)
    succeed(await call('POST', '/v1/crm/batch', { operations: operations.slice(from, from + AT_ONCE) }))
  succeed(await call('PUT', `/v1/crm/record-types/${type}?on_invalid=allow`, rules))
  const { data } = succeed(await call('GET', `${at}?limit=1000`))
  const rows = (data as Row[]).map(({ valid: _, ...row }) => row as Row)
  expect(Object.fromEntries(rows.map((row) => [row.id, row.data]))).toEqual(Object.fromEntries(contents))
  return { type, at, rows, rules, fields, many }
}

const plain = (value: object) => JSON.parse(JSON.stringify(value)) as JsonObject

export type Door = 'GET' | 'POST'
export type Query = {
  [key in 'filter' | 'sort' | 'fields' | 'limit' | 'offset' | 'cursor' | 'include_total']?: Json | undefined
}

/** Servers and proxies commonly limit a URL to about 8 KB. */
const LONGEST_URL = 6000

/** Reads a list with GET or POST; a query too long for a URL uses POST. */
export async function ask(call: Call, at: string, query: Query, door: Door): Promise<Body> {
  const entries = Object.entries(query).filter(([, value]) => value !== undefined)
  const inUrl = entries.map(([key, value]): [string, string] => [key, inQuery(key, value as Json)])
  const search = new URLSearchParams(inUrl).toString()
  const answer =
    door === 'GET' && search.length < LONGEST_URL
      ? await call('GET', `${at}?${search}`)
      : await call('POST', `${at}/query`, Object.fromEntries(entries))
  return succeed(answer)
}

const inQuery = (key: string, value: Json) =>
  key === 'fields' && Array.isArray(value)
    ? value.join(',')
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value)

export const idsOf = (page: Body): string[] => page.data.map(({ id }: Body) => id)
