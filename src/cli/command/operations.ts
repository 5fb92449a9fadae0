/** Commands and their options, from the operations of the API. What they say may be given in place of its texts. */
import { readFileSync } from 'node:fs'
import type { Method } from './client.ts'
import { nameOf, type Row } from './command.ts'
import {
  count,
  createOnly,
  flag,
  ifMatch,
  json,
  list,
  type Option,
  query,
  queryFlag,
  queryJson,
  text,
  textFile,
} from './options.ts'

/** What a request takes: a query parameter, a header or a field of the body. */
export type Taken = {
  name: string
  in: 'query' | 'header' | 'body'
  kind: 'text' | 'count' | 'flag' | 'list' | 'json'
  about: string
  required?: true
}
export type Operation = { method: Method; path: string; summary: string; takes: readonly Taken[] }

/** Printed from the OpenAPI description, so that no command loads the server. */
const OPERATIONS = JSON.parse(
  readFileSync(new URL('../../../schema/cli.json', import.meta.url), 'utf8'),
) as Readonly<Record<string, Operation>>

export function operation(id: string): Operation {
  const found = OPERATIONS[id]
  if (!found) throw new Error(`schema/cli.json has no operation "${id}". Run npm run print.`)
  return found
}

/** By parameter: an option, or `--flag <value> text`, in which the flag and the value may be left out. */
export type Says = Readonly<Record<string, string | Option>>

/** At the begin of every help. */
const FIRST: Says = {
  name: 'display name (default: the id)',
  description: textFile('--description <text>', 'description', 'description'),
  filter: '<json> {"field":"data.status","op":"eq","value":"open"}',
  sort: '<fields> such as -data.amount,created_at',
  fields: '<names> fields to show, such as id,data.name',
}
/** At its end. */
const LAST: Says = {
  external_id: '<id> its id in an external system',
  external_source: '<name> the external system (default: "default")',
  version: '<number> show this version',
  as_of: '<time> state at this time, such as 2026-01-31T09:30:00Z, or an age such as 2h',
  since: '<time> from this time on, or an age such as 2h',
  until: '<time> before this time or age',
  confirm: '<id> the id again; required if it is not empty',
  plan_token: '<token> approve the plan of a deletion',
  cursor: '<cursor> cursor of the page',
  limit: '<count> items per page, 1 to 1000',
  offset: '<count> items to skip',
  include_total: 'also count all matches',
  'if-match': ifMatch,
  'if-none-match': createOnly,
  dry_run: 'show what would happen, without changing anything',
  'idempotency-key': '<key> idempotency key: retries with it take effect once',
}

const VALUES = { text: '<text>', count: '<count>', list: '<ids>', json: '<json>', flag: '' }

function optionOf({ name, kind: written, about: described, in: place, required }: Taken, says: Says): Option {
  const said = says[name] ?? FIRST[name] ?? LAST[name]
  if (typeof said === 'object') return said
  // A filter in a query is JSON in a text.
  const kind = name === 'filter' ? 'json' : written
  const [, own = `--${name.replaceAll('_', '-')}`, value = VALUES[kind], about = described] =
    /^(--[\w-]+ )?(<[^>]+> )?(.+)$/.exec(said ?? '') ?? []
  const flags = `${own.trim()} ${value}`.trim()
  return { ...made(place, kind, flags, name, about), ...(required && { required }) }
}

function made(place: Taken['in'], kind: Taken['kind'], flags: string, name: string, about: string): Option {
  if (place === 'header') return { flags, about, to: { header: name } }
  if (place === 'query')
    return (kind === 'flag' ? queryFlag : kind === 'json' ? queryJson : query)(flags, name, about)
  return kind === 'flag'
    ? flag(flags, name, about, true)
    : { text, count, list, json }[kind](flags, name, about)
}

type Choice = {
  says?: Says
  /** Of what the operation takes, these only. */
  only?: readonly string[] | undefined
  without?: readonly string[]
  /** Options beside those of what it takes. */
  also?: readonly Option[]
}

/** The options of an operation: those that have a text of their own, the others, and what many commands have. */
export function optionsOf(id: string, { says = {}, only, without = [], also = [] }: Choice): Option[] {
  const isTaken = (name: string) => !without.includes(name) && (only?.includes(name) ?? true)
  const taken = new Map(operation(id).takes.map((each) => [each.name, each]))
  const named = (names: readonly string[]) =>
    names.filter(isTaken).flatMap((name) => {
      const each = taken.get(name)
      return each ? [optionOf(each, says)] : []
    })
  const own = new Set([...Object.keys(FIRST), ...Object.keys(says), ...taken.keys()])
  const last = Object.keys(LAST)
  return [...named([...own].filter((name) => !last.includes(name))), ...also, ...named(last)]
}

/** The command of an operation. */
export function commandOf(
  id: string,
  name: string,
  {
    says = {},
    only,
    without = [],
    also = [],
    ...more
  }: Choice & Partial<Omit<Row, 'name' | 'method' | 'options'>> = {},
): Row {
  const { method, path, summary } = operation(id)
  return {
    name,
    summary: summary.replace(/^Get /, 'Show ').replaceAll('`', ''),
    method,
    path,
    ...more,
    options: optionsOf(id, { says, only, also, without: [...without, nameOf(more.argument ?? '')] }),
  }
}
