/** The records of one type. */
import { type Http, segment } from './http.ts'
import { type Page, Pages } from './pages.ts'
import type { Filter, RecordTypes, StoredRecord, Where } from './types.ts'
import { filterOf } from './where.ts'

/** What a list returns. Names are those of the API. */
export type ListOptions<Types extends RecordTypes> = {
  /** Conditions on properties, which must all hold. */
  where?: Where<Types['fields']>
  /** The filter language of the API; together with `where`, both must hold. */
  filter?: Filter<Types['fields'], Types['expand']>
  /** Such as `-data.amount,created_at`. */
  sort?: SortKey<Types['fields']> | readonly SortKey<Types['fields']>[]
  /** Only these fields; all by default. */
  fields?: readonly (keyof Types['fields'] | 'data')[]
  expand?: readonly (Types['expand'] | (string & {}))[]
  /** The state at this time. */
  as_of?: string
  /** Items of a page, 1 to 1,000. */
  limit?: number
  signal?: AbortSignal
}
type SortKey<Fields> = (keyof Fields & string) | `-${keyof Fields & string}`

/** What a list returns of a record: with `fields` as literals just these, with `fields` that are not known any part. */
type Listed<Types extends RecordTypes, Options> = Options extends {
  fields: infer Names extends readonly unknown[]
}
  ? number extends Names['length']
    ? Partial<Omit<StoredRecord, 'data'>> & { data?: Partial<Types['data']> }
    : Selected<Types['data'], Names[number]>
  : StoredRecord<Types['data']>

type Selected<Data, Name> = Pick<StoredRecord, Exclude<Name & keyof StoredRecord, 'data'> | Unasked> &
  ('data' extends Name
    ? { data: Data }
    : Name & `data.${string}` extends never
      ? unknown
      : OfData<PartOf<Data, Name extends `data.${infer Path}` ? Path : never>>)
/** A record with none of the selected properties has no data. */
type OfData<Part> = Record<never, never> extends Part ? { data?: Part } : { data: Part }
/** Of a property whose parts are selected, other parts are not there. */
type PartOf<Data, Path> = string extends keyof Data
  ? Partial<Data>
  : Pick<Data, Path & keyof Data> & {
      [Key in Exclude<Path, keyof Data> as Key extends `${infer Top}.${string}`
        ? Top & keyof Data
        : never]?: unknown
    }
type Unasked = 'valid' | '_expanded'

export type WriteOptions = {
  /** Write only if this is the current version. */
  if_match?: number
  /** Validate and plan, without writing. */
  dry_run?: boolean
  /** One effect for all requests with the same key. Each call has a key of its own by default. */
  idempotency_key?: string
  signal?: AbortSignal
}
export type PutOptions = WriteOptions & {
  external_id?: string
  external_source?: string
  relationships?: readonly { rel_type: string; record_type: string; id: string; data?: object }[]
}
export type Aggregate<Fields, Links extends string = never> = {
  aggregations: readonly { fn: string; field?: keyof Fields & string; alias?: string }[]
  group_by?: readonly (keyof Fields & string)[]
  filter?: Filter<Fields, Links>
  /** The groups as they were at the end of each interval. */
  over?: { interval: string; since: string; until?: string }
  [option: string]: unknown
}

export class Records<Types extends RecordTypes> {
  readonly #http: Http
  readonly #path: string

  constructor(http: Http, base: string, type: string) {
    this.#http = http
    this.#path = `${segment(base)}/records${segment(type)}`
  }

  /** @throws PlinthError with the code NOT_FOUND */
  get(
    id: string,
    options: {
      version?: number
      as_of?: string
      expand?: ListOptions<Types>['expand']
      signal?: AbortSignal
    } = {},
  ): Promise<StoredRecord<Types['data']>> {
    const { signal, expand, ...query } = options
    return this.#http.request(this.#path + segment(id), {
      query: { ...query, expand: expand?.join(',') },
      signal,
    })
  }

  list<const Options extends ListOptions<Types>>(options?: Options): Pages<Listed<Types, Options>> {
    const { where, filter, sort, signal, ...rest }: ListOptions<Types> = options ?? {}
    const sorts = sort === undefined ? undefined : [sort].flat().join(',')
    const body = { ...rest, filter: filterOf(where, filter), sort: sorts }
    return new Pages((cursor) =>
      this.#http.request<Page<Listed<Types, Options>>>(`${this.#path}/query`, {
        method: 'POST',
        reads: true,
        body: { ...body, cursor },
        signal,
      }),
    )
  }

  aggregate(body: Aggregate<Types['fields'], Types['expand']>): Promise<Page<Record<string, unknown>>> {
    return this.#http.request(`${this.#path}/aggregate`, { method: 'POST', reads: true, body })
  }

  create(
    data: Types['input'],
    options: PutOptions & { id?: string } = {},
  ): Promise<StoredRecord<Types['data']>> {
    const { fields, ...write } = split(options)
    return this.#http.request(this.#path, { method: 'POST', body: { data, ...fields }, ...write })
  }

  /** Creates the record, or replaces it. */
  put(id: string, data: Types['input'], options: PutOptions = {}): Promise<StoredRecord<Types['data']>> {
    const { fields, ...write } = split(options)
    return this.#http.request(this.#path + segment(id), {
      method: 'PUT',
      body: { data, ...fields },
      ...write,
    })
  }

  /** Merges the patch into the data: null removes a property. `append` and `remove` change lists. */
  patch(
    id: string,
    data: Types['patch'],
    options: WriteOptions & { append?: object; remove?: object } = {},
  ): Promise<StoredRecord<Types['data']>> {
    const { fields, ...write } = split(options)
    return this.#http.request(this.#path + segment(id), {
      method: 'PATCH',
      body: { data, ...fields },
      ...write,
    })
  }

  delete(id: string, options: WriteOptions = {}): Promise<{ id: string; deleted: true }> {
    const { fields: _, ...write } = split(options)
    return this.#http.request(this.#path + segment(id), { method: 'DELETE', ...write })
  }

  /** Cancels the record: it stays readable. */
  cancel(id: string, options: WriteOptions = {}): Promise<StoredRecord<Types['data']>> {
    return this.#act(id, 'cancel', options)
  }

  /** Restores a cancelled or deleted record. */
  restore(id: string, options: WriteOptions = {}): Promise<StoredRecord<Types['data']>> {
    return this.#act(id, 'restore', options)
  }

  #act(id: string, action: string, options: WriteOptions): Promise<StoredRecord<Types['data']>> {
    const { fields: _, ...write } = split(options)
    return this.#http.request(`${this.#path}${segment(id)}/${action}`, { method: 'POST', ...write })
  }
}

/** The options of a write in their places: headers, query, and fields of the body. */
export function split({ if_match, dry_run, idempotency_key, signal, ...fields }: WriteOptions & object) {
  return {
    fields,
    signal,
    query: { dry_run: dry_run || undefined },
    headers: {
      ...(if_match !== undefined && { 'if-match': `"${if_match}"` }),
      ...(idempotency_key !== undefined && { 'idempotency-key': idempotency_key }),
    },
  }
}
