import { recordUri, typeUri } from '../protocol/resource-uri.ts'
import type { Part } from './truncate-json.ts'

export type Row = Record<string, unknown>
export type Body = { data?: unknown; meta?: Row }

/** What the budget must know of an answer to cut it well. */
export type Nature = {
  /** Of a list that goes by cursor: its `cursors`. */
  cursors?: unknown
  /** How to get the rows that are left out. */
  onward?: string
  /** The URI of the whole of a row, or of the one thing that the answer is. */
  uriOf?: (row: Row) => string | undefined
  /** The only parts that may be cut, of an answer whose rows the caller has to have. */
  cuttable?: (body: Body) => readonly (Part & { put(value: unknown): void })[]
}

/** What a tool has read: a list, whose `data` are rows, or one thing. */
export class Reading {
  readonly body: Body
  readonly nature: Nature

  constructor(body: object, nature: Nature = {}) {
    this.body = body
    this.nature = nature
  }
  /** The same where there is nothing that a link could lead to. */
  unlinked(): Reading {
    const { uriOf: _, ...nature } = this.nature
    return new Reading(this.body, nature)
  }
}

/** Lists that go on as their `meta` says. */
export const BY_CURSOR = { onward: 'Go on with cursor = meta.next_cursor.' }
export const BY_OFFSET = { onward: 'Go on with offset = meta.next_offset.' }

/** The URI of a record of the base; none where the row does not show which it is. */
export const recordUriIn =
  (base: string) =>
  ({ record_type, id }: Row) =>
    typeof record_type === 'string' && typeof id === 'string' ? recordUri(base, record_type, id) : undefined

/** The URI of a record type of the base. */
export const typeUriIn =
  (base: string) =>
  ({ id }: Row) =>
    typeof id === 'string' ? typeUri(base, id) : undefined
