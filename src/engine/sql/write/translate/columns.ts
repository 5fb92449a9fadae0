import type { Node } from '@pgsql/types'
import { meantColumn, nearest } from '../../../../contract/suggest.ts'
import { advised } from '../../../../foundation/advised-requests.ts'
import { own } from '../../../../foundation/own.ts'
import { columnRenamedFrom, type Kind } from '../../guard/relations/columns.ts'
import { nameOf } from '../../guard/syntax/names.ts'
import { call, cast, NULL } from './nodes.ts'
import type { Translation, WrittenRelation } from './written-relation.ts'

/** A column that a statement assigns: a property of `data`, or a field of the record or link. */
export type Assigned = {
  readonly column: string
  readonly property?: { readonly name: string; readonly kind: Kind } | undefined
}

const OF_RECORD = ['external_id', 'external_source', 'data']
const MOVABLE = ['source_record_type', 'source_id', 'target_record_type', 'target_id', 'data']
const OF_LINK = ['rel_type', ...MOVABLE]

const FIXED: Readonly<Record<string, string>> = {
  version: 'version counts the changes of a record; it cannot be set.',
  created_at: 'created_at is the time of the first write; it cannot be set.',
  updated_at: 'updated_at is the time of the last write; it cannot be set.',
  id: 'The id of a record cannot change. Insert a record with the new id, and delete the old one.',
}

/**
 * Finds a column to assign by its name.
 * @throws VALIDATION_ERROR for a column that cannot be assigned
 */
export function findAssigned(
  { source }: Translation,
  target: WrittenRelation,
  name: string,
  { isNew, location }: { isNew: boolean; location: number | undefined },
): Assigned {
  const column = target.columns.get(nameOf(name))
  if (target.recordType === null) {
    const allowed = isNew ? OF_LINK : MOVABLE
    if (allowed.includes(name)) return { column: name }
    const message = isNew
      ? `A link is inserted with ${OF_LINK.join(', ')}.`
      : 'Only the ends and data of a link can change. Delete the link, and insert another one in the same request.'
    throw source.fault('unsupported', message, location, { allowed })
  }
  if (column?.property) return { column: name, property: column.property }
  if (OF_RECORD.includes(name) || (isNew && name === 'id')) return { column: name }
  if (name === 'status') throw notStatus(source.fault.bind(source), target, location)
  const fixed = own(FIXED, name)
  if (fixed !== undefined) throw source.fault('read_only', fixed, location)
  const known = [
    ...OF_RECORD,
    ...[...target.columns.values()].flatMap((each) => (each.property ? each.name : [])),
  ]
  const renamed = columnRenamedFrom(target.columns.values(), name)
  const hint = renamed ?? meantColumn(name, known) ?? nearest(name, known)
  const advice = renamed
    ? `It is called ${renamed} now.`
    : hint
      ? `Did you mean ${hint}?`
      : `For a property that its schema does not name: data = data || jsonb_build_object('${name.slice(0, 64)}', …).`
  throw source.fault(
    'unknown_column',
    `There is no column "${name.slice(0, 64)}" in ${target.relation.name}. ${advice}`,
    location,
    { allowed: known.slice(0, 100), ...(hint && { hint }) },
  )
}

type Fault = Translation['source']['fault']

function notStatus(fault: Fault, target: WrittenRelation, location: number | undefined) {
  const message = `status is active or cancelled, and SET cannot change it. ${advised('cancel_record')} cancels the record, ${advised('restore_record')} reverses that.`
  if (!target.columns.has('data_status')) return fault('read_only', message, location)
  return fault('read_only', `${message} The property is data_status.`, location, { hint: 'data_status' })
}

const CASTS: Readonly<Partial<Record<Kind, 'int8' | 'numeric' | 'bool' | 'jsonb'>>> = {
  integer: 'int8',
  number: 'numeric',
  boolean: 'bool',
  json: 'jsonb',
}

/**
 * The value of an assignment, with the type of its column: PostgreSQL gives a bare literal, NULL or parameter
 * the type of the column it is assigned to, which a SELECT does not know.
 */
export function typedValue({ parameter }: Translation, node: Node, { column, property }: Assigned): Node {
  const type = column === 'data' ? 'jsonb' : property && CASTS[property.kind]
  if ('SetToDefault' in node) return type ? cast(NULL(), type) : cast(NULL(), 'text')
  if ('A_Const' in node) {
    const { sval, isnull } = node.A_Const
    if (isnull) return cast(node, type ?? 'text')
    return type && sval ? cast(node, type) : node
  }
  if (!('ParamRef' in node)) return node
  const value = parameter(node.ParamRef.number ?? 0)
  if (value === null) return cast(node, type ?? 'text')
  if (type !== 'jsonb') return type && typeof value === 'string' ? cast(node, type) : node
  // A text for a json column is that JSON string; other values are bound as JSON.
  if (typeof value === 'string') return call('to_jsonb', cast(node, 'text'))
  return typeof value === 'object' ? cast(node, 'jsonb') : call('to_jsonb', node)
}
