import type { RangeVar, WithClause } from '@pgsql/types'
import { nearest } from '../../../../contract/suggest.ts'
import { advised } from '../../../../foundation/advised-requests.ts'
import { type Access, requirePermission } from '../../../storage/access/access.ts'
import type { Catalog } from '../../guard/relations/catalog.ts'
import type { SqlColumn } from '../../guard/relations/columns.ts'
import { UNKNOWN_NAME } from '../../guard/relations/find-relation.ts'
import { FIXED } from '../../guard/relations/fixed-relations.ts'
import type { Relation, Relations } from '../../guard/relations/relations.ts'
import type { Source } from '../../guard/syntax/source-map.ts'

/** What statements are translated with. */
export type Translation = {
  readonly source: Source
  readonly relations: Relations
  readonly catalog: Catalog
  readonly access: Access
  /** The value of a parameter. */
  readonly parameter: (number: number) => unknown
}

/** The relation that a statement writes. */
export type WrittenRelation = {
  readonly relation: Relation
  /** The name as FROM has it. */
  readonly name: string
  readonly alias: string
  /** The record type; null for `relationships`. */
  readonly recordType: string | null
  readonly columns: ReadonlyMap<string, SqlColumn>
}

const RESERVED = new Set(['old', 'new', 'excluded'])
const ELSEWHERE: Readonly<Record<string, string>> = {
  records: 'Write to one record type: its id is the relation.',
  changes: 'It is the log of what was written.',
  claims: 'Claims cannot be written with SQL. Claim, release and complete them.',
  record_types: `Write record types with ${advised('put_record_type')}.`,
  relationship_types: `Write relationship types with ${advised('put_relationship_type')}.`,
}

/**
 * Finds the relation that a statement writes, and checks the permission.
 * @throws VALIDATION_ERROR, FORBIDDEN
 */
export function findWrittenRelation(
  { source, relations, catalog, access }: Translation,
  range: RangeVar,
  withClause: WithClause | undefined,
): WrittenRelation {
  const { relname: name = '', location } = range
  const fault = (message: string, hint?: string) =>
    source.fault('unsupported', message, location, hint === undefined ? {} : { hint })
  if (range.schemaname) throw fault('Write the relation without a schema: the id of a record type.', name)
  if (range.inh !== true) throw fault('ONLY is not available. Leave it out.', name)
  if (Object.hasOwn(ELSEWHERE, name)) throw fault(`"${name}" cannot be written. ${ELSEWHERE[name]}`)
  const alias = range.alias?.aliasname ?? name
  if (RESERVED.has(alias))
    throw fault(`"${alias}" is a reserved name here. Give the relation another alias.`, 't')
  if (hasCte(withClause, name)) throw fault(`WITH defines "${name}" too. Give that query another name.`)
  const relation = relations.find(name)
  if (relation === 'ambiguous')
    throw fault('Several record types begin with these 63 bytes. Write them with the batch.')
  if (!relation) throw unknown(source, relations, name, location)
  const isLink = FIXED.has(name)
  if (!isLink) requirePermission(access, 'write', catalog.baseId, relation.name)
  return {
    relation,
    name,
    alias,
    recordType: isLink ? null : relation.name,
    columns: new Map(relation.expressions.map((each) => [each.name, each])),
  }
}

const hasCte = (clause: WithClause | undefined, name: string): boolean =>
  (clause?.ctes ?? []).some((cte) => 'CommonTableExpr' in cte && cte.CommonTableExpr.ctename === name)

function unknown(source: Source, relations: Relations, name: string, location: number | undefined) {
  const names = relations.names.filter((each) => !Object.hasOwn(ELSEWHERE, each))
  const hint = nearest(name, names)
  const advice = hint ? `Did you mean ${hint}?` : UNKNOWN_NAME
  return source.fault(
    'unknown_relation',
    `There is no record type "${name.slice(0, 64)}" that the token may read. ${advice}`,
    location,
    hint ? { hint } : {},
  )
}
