import type { IndexDeclaration } from '../../contract/shapes.ts'
import type { IndexField, IndexKind, IndexStatus } from '../compiled-types/compiled-index.ts'
import type { RecordTypeIndex as IndexRow } from '../prisma/client.ts'
import type { ResolvedIndex } from './declaration.ts'

/** Records that violate a unique index: they share the same values. */
export type Duplicate = { values: unknown[]; ids: string[] }

/** An index declaration in canonical form. */
export type DeclaredIndex = Required<IndexDeclaration>
/** An index in the API representation of a type. */
export type ShownIndex = DeclaredIndex & { status: IndexStatus; duplicates?: Duplicate[] }

type StoredIndex = Pick<IndexRow, 'kind' | 'fields' | 'status' | 'duplicates'>

/** The resolved form of a stored index. */
export const resolvedIndex = ({ kind, fields }: Pick<IndexRow, 'kind' | 'fields'>): ResolvedIndex => ({
  kind: kind as IndexKind,
  fields: fields as IndexField[],
})

/** The canonical declaration of a stored index. */
export const declaredIndex = ({ kind, fields }: Pick<IndexRow, 'kind' | 'fields'>): DeclaredIndex => ({
  fields: (fields as IndexField[]).map(({ field, direction }) =>
    direction === 'asc' ? field : { field, direction },
  ),
  unique: kind === 'unique',
  type: kind === 'text' ? 'text' : 'btree',
})

/** The API representation: declaration, build status and, after a failure, the duplicates. */
export const shownIndex = (row: StoredIndex): ShownIndex => ({
  ...declaredIndex(row),
  status: row.status as IndexStatus,
  ...(row.status === 'failed' && { duplicates: (row.duplicates ?? []) as Duplicate[] }),
})
