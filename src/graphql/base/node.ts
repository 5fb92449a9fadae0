import type { RecordItem } from '../../engine/data/ledger/record.ts'
import type { Relationship } from '../../engine/data/ledger/relationship.ts'
import type { RecordVersion } from '../../engine/history/versions.ts'
import type { LinkedAttachment } from '../../engine/records/attachments/index.ts'
import type { TypeView } from './base-view.ts'

/** An attachment. One that is read makes its link when it is asked for. */
export type Attached = LinkedAttachment & { link?: () => { url: string; expiresAt: string } }

/** A record in an answer, with the linked records that the query asks for. */
export type RecordNode = {
  readonly type: TypeView
  readonly record: RecordItem
  /** The link that it was found through. */
  readonly link?: Relationship
  /** Linked records by the key of their field in the answer: it may occur more than once, with other arguments. */
  readonly linked: Map<string, Connection>
  /** Versions, by the key of their field. */
  history?: Map<string, readonly RecordVersion[]>
  attachments?: readonly Attached[]
}

/** A page of records. */
export type Connection = {
  readonly nodes: readonly RecordNode[]
  readonly hasMore: boolean
  readonly hasPrevious: boolean
  /** Null if the query does not ask for it. */
  readonly total: number | null
  cursorAfter(index: number): string
}
