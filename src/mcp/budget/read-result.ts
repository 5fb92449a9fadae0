import { recordUri, typeUri } from '../protocol/resource-uri.ts'
import type { Content } from '../protocol/result.ts'
import type { Part } from './truncate-json.ts'

export type Row = Record<string, unknown>
export type Body = { data?: unknown; meta?: Row }

/** Properties of a result that determine how it is cut. */
export type Nature = {
  /** Cursors of a list with cursor pagination. */
  cursors?: unknown
  /** Hint on how to get the omitted rows. */
  onward?: string
  /** The properties of `meta` that lead on from the last row kept. */
  goOn?: (last: Row) => Row
  /** The limit of tokens where the call has none. */
  tokens?: number
  /** Bytes above which a row of a cut result is shortened. */
  rowBytes?: number
  /** The result in place of this one, if this one has to be cut. */
  ifCut?: () => Promise<ReadResult>
  /** URI of the full row, or of the single object. */
  uriOf?: (row: Row) => string | undefined
  /** Links that the result always has. */
  links?: readonly Content[]
  /** The only parts that may be truncated, for results whose rows must all be returned. */
  cuttable?: (body: Body) => readonly (Part & { put(value: unknown): void })[]
}

/** The result of a read tool: a list with its rows in `data`, or a single object. */
export class ReadResult {
  readonly body: Body
  readonly nature: Nature

  constructor(body: object, nature: Nature = {}) {
    this.body = body
    this.nature = nature
  }
  /** A copy without links, for addresses without resources. */
  unlinked(): ReadResult {
    const { uriOf: _, links: __, ...nature } = this.nature
    return new ReadResult(this.body, nature)
  }
}

/** Lists with cursor or offset pagination. */
export const BY_CURSOR = { onward: 'Continue with cursor = meta.next_cursor.' }
export const BY_OFFSET = { onward: 'Continue with offset = meta.next_offset.' }

/** URI of a record; undefined if the row does not identify it. */
export const recordUriIn =
  (base: string) =>
  ({ record_type, id }: Row) =>
    typeof record_type === 'string' && typeof id === 'string' ? recordUri(base, record_type, id) : undefined

/** URI of a record type. */
export const typeUriIn =
  (base: string) =>
  ({ id }: Row) =>
    typeof id === 'string' ? typeUri(base, id) : undefined
