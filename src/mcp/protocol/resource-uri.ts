/** Builds and parses resource URIs and their templates. */
import { encodeFilePath, readFilePath } from '../../contract/file-path.ts'
import { isBaseId, isRecordId, isTypeId } from '../../contract/ids.ts'
import { LIMITS } from '../../foundation/limits.ts'

/** A parsed resource URI. `query` has the parameters of a record list. */
export type ResourceName =
  | { kind: 'type'; base: string; type: string }
  | { kind: 'record'; base: string; type: string; id: string }
  | { kind: 'records'; base: string; type: string; query: ReadonlyMap<string, string> }
  | FileName
  | RunName
/** A run of an action, or the list of its runs. */
export type RunName =
  | { kind: 'run'; base: string; action: string; id: string }
  | { kind: 'runs'; base: string; action: string; query: ReadonlyMap<string, string> }
/** A file, or the list of the files of a type. */
export type FileName =
  | { kind: 'file'; base: string; type: string; path: string }
  | { kind: 'files'; base: string; type: string; query: ReadonlyMap<string, string> }

/** URI parameters of a list of files. */
export type FilesQuery = { prefix?: string; cursor?: string }

/** URI parameters of a list of runs. */
export type RunsQuery = { status?: string; cursor?: string }

/** URI parameters of a record list. */
export type ListQuery = { filter?: string; condition?: string; cursor?: string }

const encode = encodeURIComponent

/** URI of a record type. */
export const typeUri = (base: string, type: string): string =>
  `plinth://${encode(base)}/types/${encode(type)}`

/** URI of a record. */
export const recordUri = (base: string, type: string, id: string): string =>
  `plinth://${encode(base)}/records/${encode(type)}/${encode(id)}`

/** URI of a record list; `filter` and `condition` are JSON. */
export const recordsUri = (base: string, type: string, query: ListQuery = {}): string =>
  `plinth://${encode(base)}/records/${encode(type)}${written(query)}`

/** URI of a file. */
export const fileUri = (base: string, type: string, path: string): string =>
  `plinth://${encode(base)}/files/${encode(type)}/${encodeFilePath(path)}`

/** URI of a list of files. */
export const filesUri = (base: string, type: string, query: FilesQuery = {}): string =>
  `plinth://${encode(base)}/files/${encode(type)}${written(query)}`

/** URI of the runs of an action. */
export const runsUri = (base: string, action: string, query: RunsQuery = {}): string =>
  `plinth://${encode(base)}/actions/${encode(action)}/runs${written(query)}`

/** The query part of a URI; empty without parameters. */
function written(query: ListQuery | FilesQuery | RunsQuery): string {
  const given = Object.entries(query).map(([name, value]) => `${name}=${encode(value)}`)
  return given.length > 0 ? `?${given.join('&')}` : ''
}

/** URI templates (RFC 6570) by resource kind. If `base` is given, the templates have it filled in. */
export const templatesOf = (base: string | null): Record<ResourceName['kind'], string> => {
  const at = `plinth://${base ?? '{base}'}`
  return {
    type: `${at}/types/{type}`,
    record: `${at}/records/{type}/{id}`,
    records: `${at}/records/{type}{?filter,condition,cursor}`,
    file: `${at}/files/{file_type}/{+path}`,
    files: `${at}/files/{file_type}{?prefix,cursor}`,
    run: `${at}/actions/{action}/runs/{run_id}`,
    runs: `${at}/actions/{action}/runs{?status,cursor}`,
  }
}

/** `plinth://authority/path?query`, without userinfo and fragment. */
const FORM = /^plinth:\/\/([^/?#]+)\/([^?#]+)(?:\?([^#]*))?$/i

/** Parses a resource URI; undefined if no resource can have it. Accepts unnecessary percent-encoding. */
export function parseResourceUri(uri: string): ResourceName | undefined {
  if (uri.length > LIMITS.resourceUriChars) return undefined
  const [, authority = '', path = '', search] = FORM.exec(uri) ?? []
  // The authority of a URI is case-insensitive; path and query are not.
  const base = decode(authority)?.toLowerCase() ?? ''
  const [kind, type, id, ...more] = path.split('/').map(decode)
  if (!isBaseId(base) || type === undefined || !isTypeId(type)) return undefined
  if (kind === 'files') return parseFile({ base, type }, id === undefined ? [] : [id, ...more], search)
  if (kind === 'actions') return id === 'runs' ? parseRun({ base, action: type }, more, search) : undefined
  if (more.length > 0) return undefined
  if (kind === 'types' && id === undefined && search === undefined && path.split('/').length === 2)
    return { kind: 'type', base, type }
  if (kind !== 'records') return undefined
  if (path.split('/').length === 2) {
    const query = parseQuery(search ?? '')
    return query && { kind: 'records', base, type, query }
  }
  return id !== undefined && isRecordId(id) && search === undefined
    ? { kind: 'record', base, type, id }
    : undefined
}

function parseFile(
  of: { base: string; type: string },
  segments: readonly (string | undefined)[],
  search: string | undefined,
): FileName | undefined {
  if (segments.length === 0) {
    const query = parseQuery(search ?? '')
    return query && { kind: 'files', ...of, query }
  }
  if (search !== undefined || segments.includes(undefined)) return undefined
  const found = readFilePath(segments.join('/'))
  return 'path' in found ? { kind: 'file', ...of, path: found.path } : undefined
}

function parseRun(
  of: { base: string; action: string },
  [id, ...more]: readonly (string | undefined)[],
  search: string | undefined,
): RunName | undefined {
  if (id === undefined) {
    const query = parseQuery(search ?? '')
    return query && { kind: 'runs', ...of, query }
  }
  const isOne = more.length === 0 && search === undefined && isRecordId(id)
  return isOne ? { kind: 'run', ...of, id } : undefined
}

/** Parses the query; undefined for malformed escapes and duplicate parameters. */
function parseQuery(search: string): ReadonlyMap<string, string> | undefined {
  const query = new Map<string, string>()
  for (const part of search === '' ? [] : search.split('&')) {
    const at = part.includes('=') ? part.indexOf('=') : part.length
    const [name, value] = [decode(part.slice(0, at)), decode(part.slice(at + 1))]
    if (!name || value === undefined || query.has(name)) return undefined
    query.set(name, value)
  }
  return query
}

/** Percent-decodes. Unlike in forms, `+` is literal (RFC 3986). */
function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
