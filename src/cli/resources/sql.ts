import { parseJson } from '../../json/parse.ts'
import { misused } from '../command/failure.ts'
import { commandOf } from '../command/operations.ts'
import { type Option, readText } from '../command/options.ts'
import { note, showRows } from '../command/print.ts'

type Result = {
  data: Record<string, unknown>[]
  meta: { has_more: boolean; columns: { name: string }[]; hint?: string }
}

/** Parses `name=value`. The value is JSON if it parses without loss, else text. */
function readPair(text: string, flag: string): readonly [string, unknown] {
  const [, name, value = ''] = /^(\w+)=(.*)$/s.exec(text) ?? []
  if (name === undefined) throw misused(`${flag} must have the form name=value.`)
  try {
    return [name, parseJson(value)]
  } catch {
    return [name, value]
  }
}

export const param: Option = {
  flags: '--param <name=value>',
  about: 'the value of :name; may be given several times',
  to: { body: 'params' },
  read: readPair,
  several: true,
  gather: (pairs) => Object.fromEntries(pairs as readonly [string, unknown][]),
  conflicts: 'params',
}

/** Command `plinth sql 'SELECT …'`. */
export const sql = commandOf('sql.query', 'sql', {
  summary:
    'Run a read-only SQL statement (text, @file, or -); each record type is a relation named by its id',
  argument: 'query',
  readArgument: readText,
  says: {
    params: 'a list of values for $1 …, or an object for :name …',
    limit: '<count> maximum number of rows',
  },
  also: [param],
  show: ({ body }) => {
    const { data, meta } = body as Result
    showRows(
      data,
      meta.columns.map(({ name }) => name),
    )
    if (meta.hint) note(`${meta.hint}\n`)
    if (meta.has_more) note('There are more: add a LIMIT and OFFSET, or filter.\n')
  },
})
