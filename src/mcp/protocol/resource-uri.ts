/** The addresses of resources: made, read and templated here, so that no two places disagree on them. */
import { isBaseId, isRecordId, isTypeId } from '../../contract/ids.ts'
import { LIMITS } from '../../foundation/limits.ts'

/** What the URI of a resource names. `query` holds the parameters of a list of records. */
export type ResourceName =
  | { kind: 'type'; base: string; type: string }
  | { kind: 'record'; base: string; type: string; id: string }
  | { kind: 'records'; base: string; type: string; query: ReadonlyMap<string, string> }

/** The parameters that a list of records takes. */
export type ListQuery = { filter?: string; cursor?: string }

const encode = encodeURIComponent

/** The URI of a record type. */
export const typeUri = (base: string, type: string): string =>
  `plinth://${encode(base)}/types/${encode(type)}`

/** The URI of a record. */
export const recordUri = (base: string, type: string, id: string): string =>
  `plinth://${encode(base)}/records/${encode(type)}/${encode(id)}`

/** The URI of a list of records; `filter` is JSON. */
export function recordsUri(base: string, type: string, query: ListQuery = {}): string {
  const given = Object.entries(query).map(([name, value]) => `${name}=${encode(value)}`)
  return `plinth://${encode(base)}/records/${encode(type)}${given.length > 0 ? `?${given.join('&')}` : ''}`
}

/** The URI templates (RFC 6570) of an address, by the kind of what they name; of one base where `base` says which. */
export const templatesOf = (base: string | null): Record<ResourceName['kind'], string> => {
  const at = `plinth://${base ?? '{base}'}`
  return {
    type: `${at}/types/{type}`,
    record: `${at}/records/{type}/{id}`,
    records: `${at}/records/{type}{?filter,cursor}`,
  }
}

/** `plinth://authority/path?query`: nothing before the base and no fragment, for none of ours has either. */
const FORM = /^plinth:\/\/([^/?#]+)\/([^?#]+)(?:\?([^#]*))?$/i

/** What the URI names; undefined for one that no resource can have. A sign that needs no escape may have one. */
export function parseResourceUri(uri: string): ResourceName | undefined {
  if (uri.length > LIMITS.resourceUriChars) return undefined
  const [, authority = '', path = '', search] = FORM.exec(uri) ?? []
  // The authority of a URI is the same in capitals; all that follows is not.
  const base = decode(authority)?.toLowerCase() ?? ''
  const [kind, type, id, ...more] = path.split('/').map(decode)
  if (!isBaseId(base) || type === undefined || !isTypeId(type) || more.length > 0) return undefined
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

/** The parameters by name; undefined where one is not well escaped, or is there twice. */
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

/** RFC 3986: a plus sign is a plus sign. */
function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
