/** A typed client of one base. */
import { type Change, type ChangesOptions, followChanges } from './changes.ts'
import { Http, type HttpOptions, type Sent, segment } from './http.ts'
import { type Page, Pages } from './pages.ts'
import { Records, split, type WriteOptions } from './records.ts'
import type { AnyBase, BaseTypes, Relationship } from './types.ts'

export type ClientOptions = HttpOptions & { base: string }

type Link<Types extends BaseTypes, Name extends keyof Types['relationships']> = {
  rel_type: Name
  source_record_type: Types['relationships'][Name]['source']
  source_id: string
  target_record_type: Types['relationships'][Name]['target']
  target_id: string
  data?: Types['relationships'][Name]['data']
}

export type Client<Types extends BaseTypes> = {
  /** Records by type: `client.records.deal.get('d1')`. */
  records: { readonly [Name in keyof Types['records']]: Records<Types['records'][Name]> }
  relationships: {
    list(options?: { filter?: object; sort?: string; limit?: number }): Pages<Relationship>
    /** Links two records, or replaces the data of their link. */
    put<Name extends keyof Types['relationships']>(
      link: Link<Types, Name>,
      options?: WriteOptions & { replace?: boolean },
    ): Promise<Relationship<Types['relationships'][Name]['data']>>
    delete(id: string, options?: WriteOptions): Promise<{ id: string; deleted: true }>
  }
  /** Runs operations in one transaction. */
  batch(operations: readonly object[], options?: WriteOptions): Promise<Page<Record<string, unknown>>>
  /** Runs one SELECT. */
  sql<Row = Record<string, unknown>>(
    query: string,
    parameters?: readonly unknown[] | Record<string, unknown>,
  ): Promise<{ data: Row[] }>
  /** Follows the changes of the base until the signal aborts. */
  changes(options?: ChangesOptions): AsyncGenerator<Change, void, undefined>
  /** Any other request, to a path below `/v1`. */
  request<Answer = unknown>(path: string, sent?: Sent): Promise<Answer>
}

/** Makes a client. `Types` is what `plinth gen types` wrote for the base. */
export function createClient<Types extends BaseTypes = AnyBase>(connection: ClientOptions): Client<Types> {
  const http = new Http(connection)
  const base = segment(connection.base)
  return {
    records: recordsOf<Types>(http, connection.base),
    relationships: {
      list: (query = {}) =>
        new Pages((cursor) =>
          http.request(`${base}/relationships`, {
            query: { ...query, filter: query.filter && JSON.stringify(query.filter), cursor },
          }),
        ),
      put: (link, options = {}) => {
        const { fields, ...write } = split(options)
        return http.request(`${base}/relationships`, {
          method: 'PUT',
          body: { ...link, ...fields },
          ...write,
        })
      },
      delete: (id, options = {}) => {
        const { fields: _, ...write } = split(options)
        return http.request(`${base}/relationships${segment(id)}`, { method: 'DELETE', ...write })
      },
    },
    batch: (operations, options = {}) => {
      const { fields, ...write } = split(options)
      return http.request(`${base}/batch`, { method: 'POST', body: { operations, ...fields }, ...write })
    },
    sql: (query, parameters) =>
      http.request(`${base}/sql`, { method: 'POST', reads: true, body: { query, params: parameters } }),
    changes: (options = {}) => followChanges(http, connection.base, options),
    request: (path, sent) => http.request(path, sent),
  }
}

/** A collection for whatever name is read. */
function recordsOf<Types extends BaseTypes>(http: Http, base: string): Client<Types>['records'] {
  const made = new Map<string, unknown>()
  return new Proxy({} as Client<Types>['records'], {
    get: (_, name) => {
      // `then` would make a promise of it in `await client.records`.
      if (typeof name !== 'string' || name === 'then') return undefined
      if (!made.has(name)) made.set(name, new Records(http, base, name))
      return made.get(name)
    },
  })
}
