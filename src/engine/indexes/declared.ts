import type { IndexDeclaration } from '../../contract/shapes.ts'
import type { IndexField, IndexKind, IndexStatus } from '../compiled-types/compiled-index.ts'
import type { RecordTypeIndex as IndexRow } from '../prisma/client.ts'
import type { ResolvedIndex } from './declaration.ts'

/** Records that share the values a unique index allows once. */
export type Duplicate = { values: unknown[]; ids: string[] }

/** An index as it was declared, in the one form that every spelling of it takes. */
export type DeclaredIndex = Required<IndexDeclaration>
/** An index as a type shows it. */
export type ShownIndex = DeclaredIndex & { status: IndexStatus; duplicates?: Duplicate[] }

type StoredIndex = Pick<IndexRow, 'kind' | 'fields' | 'status' | 'duplicates'>

/** The index as the type holds it. */
export const resolvedIndex = ({ kind, fields }: Pick<IndexRow, 'kind' | 'fields'>): ResolvedIndex => ({
  kind: kind as IndexKind,
  fields: fields as IndexField[],
})

/** The index as it was declared. */
export const declaredIndex = ({ kind, fields }: Pick<IndexRow, 'kind' | 'fields'>): DeclaredIndex => ({
  fields: (fields as IndexField[]).map(({ field, direction }) =>
    direction === 'asc' ? field : { field, direction },
  ),
  unique: kind === 'unique',
  type: kind === 'text' ? 'text' : 'btree',
})

/** The index with how far it is and, where it failed, why. */
export const shownIndex = (row: StoredIndex): ShownIndex => ({
  ...declaredIndex(row),
  status: row.status as IndexStatus,
  ...(row.status === 'failed' && { duplicates: (row.duplicates ?? []) as Duplicate[] }),
})
