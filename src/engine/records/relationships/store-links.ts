import { uuidv7 } from '../../../foundation/uuid.ts'
import { authorship } from '../../core/scope.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { written } from '../../data/ledger/record.ts'
import type { Relationship } from '../../data/ledger/relationship.ts'
import { CREATE_LINKS, UPDATE_LINKS, type WrittenLink } from '../../data/ledger/relationship-statements.ts'
import {
  type CompiledRelationshipType,
  hasOneSource,
  hasOneTarget,
} from '../../schema/compiled-types/compiled-relationship-type.ts'
import type { PlacedLink } from './check-cardinality.ts'
import type { LinkWrite } from './link.ts'
import { deleteLinks } from './remove.ts'

/** A link that passed all checks and can be stored. */
export type DueLink = {
  /** Position among the links of the write. */
  index: number
  link: LinkWrite
  type: CompiledRelationshipType
  found: PlacedLink
  data: unknown
  text: string
  /** The required current version of an existing link; null for any. */
  version: number | null
  /** Ids of the links that it replaces. */
  replaces: readonly string[]
}
type Stored = { written: Map<number, Relationship>; isStale: boolean }

/**
 * Stores independent links, type by type in a fixed order against deadlocks. Omits links that lost a race
 * from the result.
 */
export async function storeLinks(
  scope: WriteScope,
  baseId: string,
  due: readonly DueLink[],
): Promise<Stored> {
  const stored: Stored = { written: new Map(), isStale: false }
  const replaced = due.flatMap(({ replaces }) => replaces)
  if (replaced.length > 0) await deleteLinks(scope, baseId, replaced)
  for (const [type, links] of byType(due)) {
    const created = links.filter(({ found }) => found.held_id === null)
    const updated = links.filter(({ found }) => found.held_id !== null)
    if (created.length > 0) await create(scope, baseId, type, created, stored)
    if (updated.length > 0) await update(scope, baseId, type, updated, stored)
  }
  return stored
}

function byType(due: readonly DueLink[]): [CompiledRelationshipType, DueLink[]][] {
  const types = new Map<CompiledRelationshipType, DueLink[]>()
  for (const link of due) {
    const others = types.get(link.type)
    if (others) others.push(link)
    else types.set(link.type, [link])
  }
  return [...types].sort(([a], [b]) => (a.id < b.id ? -1 : 1))
}

async function create(
  scope: WriteScope,
  baseId: string,
  type: CompiledRelationshipType,
  due: readonly DueLink[],
  stored: Stored,
): Promise<void> {
  const ids = due.map(({ link }) => link.id ?? uuidv7())
  const rows = await scope.db.query<WrittenLink>(CREATE_LINKS, [
    baseId,
    type.id,
    type.stamp,
    hasOneTarget(type.cardinality),
    hasOneSource(type.cardinality),
    ids,
    due.map(({ link }) => link.id === null),
    due.map(({ link }) => link.source.recordType),
    due.map(({ found }) => found.source_id),
    due.map(({ found }) => found.source_row),
    due.map(({ link }) => link.target.recordType),
    due.map(({ found }) => found.target_id),
    due.map(({ found }) => found.target_row),
    ...contentOf(due),
    ...authorship(scope),
  ])
  keep(rows, new Map(due.map((link, n) => [ids[n] as string, link])), stored)
}

async function update(
  scope: WriteScope,
  baseId: string,
  type: CompiledRelationshipType,
  due: readonly DueLink[],
  stored: Stored,
): Promise<void> {
  const ids = due.map(({ found }) => found.held_id as string)
  const rows = await scope.db.query<WrittenLink>(UPDATE_LINKS, [
    baseId,
    type.id,
    type.stamp,
    ids,
    due.map(({ version }) => version),
    ...contentOf(due),
    ...authorship(scope),
  ])
  keep(rows, new Map(due.map((link, n) => [ids[n] as string, link])), stored)
}

const contentOf = (due: readonly DueLink[]) => [
  due.map(({ text }) => text),
  due.map(({ link }) => link.pair?.externalSource ?? null),
  due.map(({ link }) => link.pair?.externalId ?? null),
  due.some(({ link }) => link.cause) ? due.map(({ link }) => link.cause ?? null) : null,
]

function keep(rows: readonly WrittenLink[], due: ReadonlyMap<string, DueLink>, stored: Stored): void {
  for (const { kind, ...row } of rows) {
    if (kind === 'stale_type') stored.isStale = true
    const one = due.get(row.id)
    if (!one || kind === 'stale_type') continue
    stored.written.set(one.index, { ...shown(one, row), operation: kind })
  }
}

const shown = (
  { link, found, data }: DueLink,
  row: Omit<WrittenLink, 'kind'>,
): Omit<Relationship, 'operation'> => ({
  id: row.id,
  relType: link.relType,
  sourceRecordType: link.source.recordType,
  sourceId: found.source_id,
  targetRecordType: link.target.recordType,
  targetId: found.target_id,
  data,
  externalId: row.external_id,
  externalSource: row.external_source,
  version: row.version,
  // The write validated the data against the current schema.
  valid: null,
  createdAt: written(row.created_at),
  updatedAt: written(row.updated_at),
})
