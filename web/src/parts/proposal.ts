/** What a proposal changes, as the pages and the requests name it. */
import type { ChangeSet, Edit } from '../api/shapes.ts'

/** What a request names: a record by its type, all else by kind and id. */
export type Named = { kind: string; record_type?: string; id: string }

export const isOfRecords = ({ kind }: { kind: string }): boolean =>
  kind === 'record' || kind === 'relationship'

/** The type and the id of a record that an edit is of: `ticket/T-1` is of a ticket. */
export function recordOf({ id }: Pick<Edit, 'id'>): readonly [type: string, id: string] {
  const [type = '', own = ''] = id.split(/\/(.*)/s)
  return [type, own]
}

/** An edit as a request names it. */
export function named({ kind, id }: Named): Named {
  if (kind !== 'record') return { kind, id }
  const [type, own] = recordOf({ id })
  return { kind, record_type: type, id: own }
}

export const TONES = { create: 'added', update: 'changed', delete: 'removed' } as const

export const sizeOf = ({ counts }: ChangeSet) => counts.create + counts.update + counts.delete

/** Whether the page of something else reads all of it: of one with more, a list shows how many there are. */
export const isSmall = (set: ChangeSet) => sizeOf(set) <= 200
