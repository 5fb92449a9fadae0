/** Checks hints against the type: one that the type refuses too would mislead, and of two readings one is right. */
import { COLUMNS } from '../../../contract/record-columns.ts'
import { meantValue } from '../../../contract/suggest.ts'
import { type Detail, DomainError } from '../../../foundation/errors.ts'
import { readableRelationshipTypes } from '../../configuration/relationship-types/index.ts'
import { rightsOf } from '../../core/row-policy/apply.ts'
import type { Scope } from '../../core/scope.ts'
import { bindFilter } from '../../data/filter/check-fields.ts'
import { checkField, type FieldContext } from '../../data/filter/operand.ts'
import { PRESENT_FIELDS, parseFilter } from '../../data/filter/parse.ts'
import {
  type CompiledRelationshipType,
  isAmong,
} from '../../schema/compiled-types/compiled-relationship-type.ts'
import { fieldName, parseField } from '../../schema/compiled-types/field-path.ts'
import { isListAt, rootProperties } from '../../schema/json-schema/fields.ts'

type Asked = { scope: Scope; baseId: string; recordType: string }

/**
 * Runs a reader of arguments. Where it refuses a field with a hint that the type does not have, the error lists
 * the fields of the type instead, or the path of a relationship type. Where it refuses an operator, the hint has the
 * one that the type of the field takes.
 */
export async function withCheckedHints<T>(
  of: Asked,
  read: () => T | Promise<T>,
  typeOf: () => Promise<FieldContext>,
): Promise<T> {
  try {
    return await read()
  } catch (thrown) {
    if (!(thrown instanceof DomainError) || !thrown.details.some(dependsOnType)) throw thrown
    // A type that is missing or closed to the caller answers with the fault of the shape, which comes first.
    const type = await typeOf().catch(() => undefined)
    if (!type) throw thrown
    const links = await readableRelationshipTypes(of.scope, of.baseId)
    const details = thrown.details.map((detail) =>
      isOfField(detail) || isOfKey(detail)
        ? (linkedInstead(detail, type, of, links) ?? (isOfKey(detail) ? detail : checked(detail, type)))
        : isOfOperator(detail)
          ? settled(detail, type)
          : detail,
    )
    const message = details[0]?.message ?? thrown.message
    throw new DomainError(thrown.code, message, { details, cause: thrown.cause })
  }
}

const LINKED_FIELD =
  'A filter reaches linked records through a relationship type: "<relationship type>.data.<name>", with "~" before it for incoming links. To show their fields, use "expand" or SQL.'
const isOfField = ({ code, hint }: Detail): boolean => code === 'unknown_field' && hint !== undefined

/** A filter in the form of another product. */
const isOfKey = ({ code, hint }: Detail): boolean => code === 'unknown_key' && hint?.startsWith('{') === true
const isOfOperator = ({ code, hint }: Detail): boolean =>
  code === 'unknown_operator' && hint?.startsWith('{') === true
const dependsOnType = (detail: Detail): boolean =>
  isOfField(detail) || isOfKey(detail) || isOfOperator(detail)

/** Of "contains" as a part of a text or an item of a list, keeps what the field is. */
function settled(detail: Detail, type: FieldContext): Detail {
  const keep = (_: string, node: { or?: { op?: string; field?: string }[] } | null) => {
    const [part, item, ...more] = Array.isArray(node?.or) ? node.or : []
    if (part?.op !== 'like' || item?.op !== 'has' || part.field !== item.field || more.length > 0) return node
    const field = parseField(item.field, '')
    const isHidden = field.kind === 'data' && type.visible?.includes(String(field.path[0])) === false
    const isList = isHidden
      ? undefined
      : field.kind === 'data'
        ? isListAt(type.jsonSchema, field.path)
        : false
    return isList === undefined ? node : isList ? item : part
  }
  return { ...detail, hint: JSON.stringify(JSON.parse(detail.hint ?? '', keep)) }
}

/** For `customer.name`, where `customer` is a relationship type, or a record type that only one leads to. */
function linkedInstead(
  detail: Detail,
  { jsonSchema, visible }: FieldContext,
  of: Asked,
  links: ReadonlyMap<string, CompiledRelationshipType>,
): Detail | undefined {
  const name = String(detail.received ?? detail.path.split('/').at(-1))
  const [, mark, first = '', rest] = /^(~?)([^.]+)(?:[.](?:data[.])?(.+))?$/.exec(name) ?? []
  const [path, ...others] = pathsTo(first, of, links)
  if (path === undefined || (visible ?? Object.keys(rootProperties(jsonSchema))).includes(first))
    return undefined
  const { hint = '', ...fault } = detail
  if (others.length > 0 || !detail.path.startsWith('/filter'))
    return { ...fault, message: `${detail.message} ${LINKED_FIELD}` }
  const to = mark ? `~${path.replace('~', '')}` : path
  const filter = hint
    .replaceAll(`"data.${first}.`, () => `"${to}.data.`)
    .replaceAll(`"data.${first}"`, () => `"${to}.id"`)
  const meant = `${to}.${rest === undefined ? 'id' : `data.${rest}`}`
  const field = filter.split('"').find((part) => part.startsWith(`${to}.`)) ?? meant
  return {
    ...fault,
    message: `"${name.slice(0, 64)}" is no field of the record itself. Write that of the linked record as "${field}".`,
    hint: filter.startsWith('{') ? filter : field,
  }
}

/** The relationship type of a name, or those that lead to records of such a type, with `~` where they come in. */
function pathsTo(
  name: string,
  { scope, baseId, recordType }: Asked,
  links: ReadonlyMap<string, CompiledRelationshipType>,
): string[] {
  const named = links.get(name)
  if (named) return [isAmong(recordType, named.sourceRecordTypes) ? name : `~${name}`]
  const readable = rightsOf(scope).types('read', baseId)
  if (readable !== '*' && !readable.has(name)) return []
  return [...links.values()].flatMap(({ id, sourceRecordTypes: from, targetRecordTypes: to }) => [
    ...(isAmong(recordType, from) && to.includes(name) ? [id] : []),
    ...(isAmong(recordType, to) && from.includes(name) ? [`~${id}`] : []),
  ])
}

function checked(detail: Detail, type: FieldContext): Detail {
  const { hint = '', ...rest } = detail
  const name = String(detail.received)
  // `customer.data.plan` means a linked record: as a property it would find nothing.
  const isPath = /^[^.]+[.]data[.]/.test(name)
  const names = type.visible ?? Object.keys(rootProperties(type.jsonSchema))
  if (!isPath && !names.includes(name) && holds(hint, type)) return detail
  const columns = (detail.allowed ?? COLUMNS).filter((each) => each !== 'data.<name>')
  const allowed = [...columns, ...names.map((name) => `data.${name}`)]
  const meant = isPath ? undefined : corrected(hint, name, names)
  if (meant !== undefined && holds(meant, type)) return { ...rest, allowed, hint: meant }
  const message = isPath ? `${detail.message} ${LINKED_FIELD}` : detail.message
  return { ...rest, message, allowed }
}

/** The hint with the nearest property of the type, or the name as a property. */
function corrected(hint: string, name: string, properties: readonly string[]): string {
  const close = meantValue(name, properties)
  const right = close === undefined ? `data.${name}` : fieldName([close])
  if (!hint.startsWith('{')) return right
  // The filter has the name as a property, or the nearest field of every record in its place.
  const wrong = [`data.${name}`, meantValue(name, COLUMNS)]
  const swap = (key: string, value: unknown) =>
    key === 'field' && typeof value === 'string' && wrong.includes(value) ? right : value
  return JSON.stringify(JSON.parse(hint, swap))
}

/** Whether the type has the fields of a hint: a filter, or a field. */
function holds(hint: string, type: FieldContext): boolean {
  try {
    if (hint.startsWith('{')) bindFilter(parseFilter(JSON.parse(hint), '', PRESENT_FIELDS), type)
    else if (/^data[.[]/.test(hint)) {
      const field = parseField(hint, '')
      if (field.kind === 'data') checkField(field, type, '')
    }
    return true
  } catch (thrown) {
    if (thrown instanceof DomainError) return false
    throw thrown
  }
}
