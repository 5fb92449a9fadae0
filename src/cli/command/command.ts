/** What a command is: a row that becomes one API request. */

import { type Command, Option as Flag } from 'commander'
import type { Answer, Call, Method } from './client.ts'
import { misused } from './failure.ts'
import { readFileOf } from './file.ts'
import type { Option } from './options.ts'

/** A command: an API request, and how arguments and options fill it. */
export type Row = {
  name: string
  alias?: string
  summary: string
  method: Method
  /** `:base_id` comes from --base; other parameters are positional arguments, optional with `?`. */
  path: string
  /** The path if the optional argument is not given, where it is another resource. */
  pathWithout?: string
  /** Refuses an id that the path would take for a resource of another kind. */
  checkId?: (id: string) => void
  options: readonly Option[]
  /** A positional argument that becomes a body field, or a query parameter of a GET; optional with `?`. */
  argument?: string
  /** Converts the text of that argument; sent unchanged by default. */
  readArgument?: (text: string, name: string) => Promise<string>
  /** Fixed query parameters. */
  query?: Readonly<Record<string, string>>
  /** The body of the request, or of the response, is a content: a local file. */
  transfer?: 'upload' | 'download'
  /** A positional argument that names a YAML or JSON file, which is the body. */
  file?: true
  /** Columns of a list, if they differ from those of the noun. */
  columns?: readonly string[]
  /** Adds what follows from the fields of the body. */
  complete?: (fields: Record<string, unknown>) => Promise<void>
  /** At least one option must supply a body. */
  needsBody?: true
  /** Timeout; 35 s by default. */
  patienceMs?: number
  /** Adds to a request whose answer is shown, and not printed as JSON. */
  forShow?: (query: URLSearchParams) => void
  /** Asks on a terminal before the request: shows what a dry run answers. `--yes` does not ask. */
  asks?: string
  /** Binds the request to what is there before that is shown: what comes later is refused. */
  binds?: (request: Call, send: (request: Call) => Promise<Answer>) => Promise<Call>
  /** Prints a success on a terminal, if the default output is not enough. */
  show?: (answer: Answer, asked: Asked) => void | Promise<void>
  /** The exit code of a success, if it is not 0. */
  exitCode?: (answer: Answer) => number
  /** Prints a stream entry on a terminal. */
  showEntry?: (entry: unknown) => void
}

/** The request that a command has sent, and how it reads more of the server. */
export type Asked = {
  readonly url: string
  /** The path below /v1. */
  readonly path: string
  /** The body of a GET. */
  readonly get: (path: string) => Promise<unknown>
}

/** A group of commands for one resource. */
export type Noun = {
  name: string
  summary: string
  /** Columns of a list. */
  columns: readonly string[]
  rows: readonly Row[]
}

/** The parsed command line: arguments by parameter, options by flag. */
export type Written = {
  base: string | undefined
  arguments: Readonly<Record<string, string | undefined>>
  options: ReadonlyMap<Option, readonly (string | true)[]>
}

const PARAMETER = /\/:(\w+)(\??)/g

/** Positional arguments of a command in usage notation: `<type>`, `[id]`. */
export function argumentsOf({ path, argument, file, transfer }: Row): { parameter: string; usage: string }[] {
  const inPath = [...path.matchAll(PARAMETER)]
    .map(([, parameter = '', optional = '']) => `${parameter}${optional}`)
    .filter((written) => written !== 'base_id')
  const written = [
    ...inPath,
    ...(argument === undefined ? [] : [argument]),
    ...(file ? ['file'] : []),
    ...(transfer === 'upload' ? ['source'] : []),
  ]
  return written.map((each) => {
    const parameter = nameOf(each)
    const word = wordFor(parameter)
    return { parameter, usage: each === parameter ? `<${word}>` : `[${word}]` }
  })
}

/** The name of an argument, which may be optional. */
export const nameOf = (argument: string): string => argument.replace('?', '')

const wordFor = (parameter: string): string => (parameter === 'record_type' ? 'type' : parameter)

/**
 * Builds the API request of a command.
 * @throws Failure for wrong usage
 */
export async function requestOf(row: Row, written: Written): Promise<Call> {
  row.checkId?.(written.arguments['id'] ?? '')
  const headers: Record<string, string> = {}
  const query = new URLSearchParams(row.query)
  const fields: Record<string, unknown> = {}
  if (row.argument !== undefined) {
    const name = nameOf(row.argument)
    const given = written.arguments[name]
    const value = given !== undefined && row.readArgument ? await row.readArgument(given, `<${name}>`) : given
    if (row.method === 'GET') query.set(name, value ?? '')
    else fields[name] = value
  }
  let content = row.file ? await readFileOf(written.arguments['file'] ?? '') : undefined
  let stream: string | undefined
  let output: string | undefined
  for (const [option, texts] of written.options) {
    const flag = flagOf(option)
    const values: unknown[] = []
    for (const text of texts)
      values.push(text === true ? (option.value ?? true) : await (option.read ?? same)(text, flag))
    const value = option.several ? (option.gather?.(values) ?? values) : values[0]
    if ('query' in option.to) query.set(option.to.query, String(value))
    else if ('header' in option.to) headers[option.to.header] = String(value)
    else if ('body' in option.to) fields[option.to.body] = value
    else if ('stream' in option.to) stream = option.to.stream
    else if ('local' in option.to) output = option.to.local === 'output' ? String(value) : output
    else {
      content = value
      headers['content-type'] = option.to.content
    }
  }
  const template = pathOf(row, written)
  const path = fill(`${template}${stream ?? ''}`, written)
  await row.complete?.(fields)
  const hasFields = Object.keys(fields).length > 0
  if (hasFields && content !== undefined)
    throw misused('A patch that is the whole body cannot be combined with fields. Send one of them.')
  if (row.needsBody && !hasFields && content === undefined)
    throw misused(`Nothing to send. Pass ${bodyFlags(row)}.`)
  if (row.method === 'POST' && template === row.pathWithout && !hasFields)
    throw misused(`Nothing to send. Pass ${argumentsOf(row)[0]?.usage}, or ${bodyFlags(row)}.`)
  if (row.file) headers['content-type'] = 'application/json'
  const sendsFields = hasFields || (content === undefined && row.method === 'PUT' && !row.transfer)
  if (sendsFields) headers['content-type'] ??= 'application/json'
  const body = content !== undefined ? content : sendsFields ? fields : undefined
  return {
    method: row.method,
    path,
    query,
    headers,
    streams: stream !== undefined,
    body: body === undefined ? undefined : JSON.stringify(body),
    ...(output !== undefined && { output }),
    ...(row.patienceMs !== undefined && { patienceMs: row.patienceMs }),
  }
}

function pathOf(row: Row, written: Written): string {
  const isMissing = argumentsOf(row).some(({ parameter }) => written.arguments[parameter] === undefined)
  return isMissing ? (row.pathWithout ?? row.path) : row.path
}

const same = (text: string): string => text

/** The long form of an option. */
const flagIn = (flags: string): string => /--[\w-]+/.exec(flags)?.[0] ?? flags
const flagOf = ({ flags }: Option): string => flagIn(flags)

const bodyFlags = ({ options }: Row): string =>
  options
    .filter(({ to }) => 'body' in to || 'content' in to)
    .map(flagOf)
    .join(', ')

function fill(path: string, { base, arguments: given }: Written): string {
  return path.replace(PARAMETER, (_, parameter: string) => {
    const value = parameter === 'base_id' ? base : given[parameter]
    if (parameter === 'base_id' && value === undefined)
      throw misused('The base is missing. Pass --base <id>, or set PLINTH_BASE.')
    if (value === undefined) return ''
    // In a URL, `.` and `..` are path navigation and would name another resource.
    if (/^\.{0,2}$/.test(value)) throw misused(`"${value}" is not an id.`)
    return `/${encodeURIComponent(value)}`
  })
}

// What all commands share of commander.

/** Applies the settings that all commands share. */
export function configure(command: Command): Command {
  return command
    .exitOverride()
    .configureOutput({ outputError: () => {} })
    .configureHelp({ showGlobalOptions: true })
}

/** An option with a value. Rejects repeats, because one value would be silently dropped. */
export function valued(flags: string, about: string): Flag {
  return new Flag(flags, about).argParser((value: string, before: unknown) => {
    if (before !== undefined) throw misused(`${flagIn(flags)} is given more than once.`)
    return value
  })
}
