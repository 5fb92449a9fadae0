/** Types of a base, as `plinth gen types` writes them. */
export type RecordTypes = { data: object; input: object; patch: object; fields: object; expand: string }
export type BaseTypes = {
  records: { [Name in string]: RecordTypes }
  relationships: { [Name in string]: { data: object; source: string; target: string } }
}

/** A base whose types are not known: all data is JSON. */
export type AnyBase = {
  records: Record<
    string,
    {
      data: Record<string, unknown>
      input: Record<string, unknown>
      patch: Record<string, unknown>
      fields: Record<string, unknown>
      expand: string
    }
  >
  relationships: Record<string, { data: Record<string, unknown>; source: string; target: string }>
}

export type StoredRecord<Data = Record<string, unknown>> = {
  id: string
  record_type: string
  data: Data
  created_at: string
  updated_at: string
  external_id: string | null
  external_source: string | null
  version: number
  status: 'active' | 'cancelled'
  cancelled_at: string | null
  /** Present if the record violates a schema that was changed later. */
  valid?: false
  /** What a write did. */
  operation?: 'created' | 'updated' | 'unchanged'
  /** Linked records by relationship type, with `expand`. */
  _expanded?: Record<string, { relationship: Relationship; record: StoredRecord }[]>
}

export type Relationship<Data = Record<string, unknown>> = {
  id: string
  rel_type: string
  source_record_type: string
  source_id: string
  target_record_type: string
  target_id: string
  data: Data
  version: number
  created_at: string
  updated_at: string
}

/**
 * A filter: a condition on a field, on linked records, or conditions combined. `Links` are relationship types as in
 * `expand`: `customer`, or `~customer` for those that lead here.
 */
export type Filter<Fields, Links extends string = never> =
  | { and: Filter<Fields, Links>[] }
  | { or: Filter<Fields, Links>[] }
  | { not: Filter<Fields, Links> }
  | { some: LinkedRecords<Links> }
  | { none: LinkedRecords<Links> }
  | { field: (keyof Fields & string) | `${Links}.${string}`; op: keyof Operators<unknown>; value?: unknown }

/** Linked records that match a filter; without one, all of them. */
export type LinkedRecords<Links extends string> = {
  rel_type: Links extends `~${infer Name}` ? Name : Links
  direction?: 'outgoing' | 'incoming'
  record_type?: string
  filter?: Filter<{ [field: string]: unknown }, string>
}

/** The operators of a value. Those of order and of text are for values that have one. */
type Operators<Value> = {
  eq?: Value | null
  neq?: Value | null
  in?: readonly (Value | null)[]
  not_in?: readonly (Value | null)[]
  gt?: Value
  gte?: Value
  lt?: Value
  lte?: Value
  like?: string
  ilike?: string
  starts_with?: string
  search?: string
  is_null?: true
  is_not_null?: true
  has?: Value extends readonly (infer Member)[] ? Member : unknown
  has_any?: Value extends readonly unknown[] ? Value : readonly unknown[]
  has_all?: Value extends readonly unknown[] ? Value : readonly unknown[]
}

/** Conditions on properties, which must all hold: `{ stage: 'open', amount: { gte: 1000 } }`. */
export type Where<Fields> = {
  [Name in keyof Fields as Name extends `data.${infer Path}` ? Path : never]?:
    | Fields[Name]
    | null
    | Operators<Fields[Name]>
}
