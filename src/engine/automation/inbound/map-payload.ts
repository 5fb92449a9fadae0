/** Makes records of a payload, by the mapping of its webhook. */

import type { Mapping } from '../../../contract/inbound-webhook-shapes.ts'
import { invalid } from '../../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import type { PairInput } from '../../data/ledger/record.ts'
import type { RecordLink } from '../../records/index.ts'
import {
  type ConversionOptions,
  type Find,
  mapFields,
  type Place,
  textAt,
  textOf,
} from '../../schema/field-mapping/map-fields.ts'
import { compileJsonPath, openPathBudget, type PathBudget } from '../../schema/json-path/json-path.ts'

/** A record to write. */
export type Mapped = PairInput & { readonly data: unknown; readonly links?: readonly RecordLink[] }

/**
 * The records of a payload: one, or one for each element of `items`.
 * @throws VALIDATION_ERROR that says which path or value does not fit
 */
export async function mapPayload(
  payload: unknown,
  mapping: Mapping | null,
  options: ConversionOptions,
): Promise<{ records: Mapped[]; isList: boolean }> {
  if (mapping === null) return { records: [{ data: payload }], isList: false }
  const budget = openPathBudget()
  const find = finder(mapping.items !== undefined, budget)
  const elements = await elementsOf(payload, mapping, budget)
  const room = { left: options.bytes }
  const records: Mapped[] = []
  for (const [n, element] of (elements ?? [payload]).entries()) {
    const at = elements ? `/records/${n}` : ''
    records.push(await mapOne({ payload, element, at, room }, mapping, options, find))
  }
  return { records, isList: elements !== null }
}

async function elementsOf(
  payload: unknown,
  { items }: Mapping,
  budget: PathBudget,
): Promise<unknown[] | null> {
  if (items === undefined) return null
  const path = compileJsonPath(items)
  const found = await path.find(payload, budget)
  const elements = path.isSingular ? found[0] : found
  if (!Array.isArray(elements))
    throw invalid({
      path: '/mapping/items',
      code: 'no_items',
      message: `The payload has no array at ${items}. Change items of the mapping to the JSONPath of the array.`,
    })
  if (elements.length > LIMITS.batchOperations)
    throw invalid({
      path: '/mapping/items',
      code: 'too_many_items',
      message: `The payload has ${elements.length} elements at ${items}. A delivery can make ${LIMITS.batchOperations} records. Send the payload in parts.`,
      expected: LIMITS.batchOperations,
      received: elements.length,
    })
  return elements
}

/** Finds values from the element, or by `$$` from the payload. What is found in the payload is found once. */
function finder(hasItems: boolean, budget: PathBudget): Find {
  const ofPayload = new Map<string, Promise<unknown[]>>()
  return async (text, { payload, element }) => {
    const isOfPayload = hasItems && text.startsWith('$$')
    const path = compileJsonPath(isOfPayload ? text.slice(1) : text)
    if (!isOfPayload) return { values: await path.find(element, budget), isSingular: path.isSingular }
    const found = ofPayload.get(text) ?? path.find(payload, budget)
    ofPayload.set(text, found)
    return { values: await found, isSingular: path.isSingular }
  }
}

async function mapOne(
  place: Place,
  mapping: Mapping,
  options: ConversionOptions,
  find: Find,
): Promise<Mapped> {
  if (turnIsOver()) await nextTurn()
  const { external_id: idPath, external_source: source } = mapping
  const pair =
    idPath === undefined
      ? {}
      : {
          externalId: await textAt(idPath, 'external_id', place, find),
          externalSource: source?.startsWith('$')
            ? await textAt(source, 'external_source', place, find)
            : (source ?? null),
        }
  const links = mapping.relationships && { links: await linksOf(mapping.relationships, place, find) }
  if (mapping.data === undefined) return { ...pair, ...links, data: place.element }
  return { ...pair, ...links, data: await mapFields(mapping.data, place, options, find) }
}

/** A link to each record that the paths name. */
async function linksOf(
  mapped: NonNullable<Mapping['relationships']>,
  place: Place,
  find: Find,
): Promise<RecordLink[]> {
  const links: RecordLink[] = []
  for (const [
    n,
    { rel_type: relType, direction, record_type: recordType, id, external_id, external_source },
  ] of mapped.entries()) {
    const name = `relationships/${n}/${id === undefined ? 'external_id' : 'id'}`
    const { values } = await find(id ?? external_id ?? '$', place)
    const others = [...new Set(values.filter((value) => value !== null))]
    if (others.length > LIMITS.recordLinks)
      throw invalid({
        path: `${place.at}/${name}`,
        code: 'too_many',
        message: `A record can be written with at most ${LIMITS.recordLinks} relationships. The payload names ${others.length}.`,
        expected: LIMITS.recordLinks,
      })
    for (const other of others) {
      const text = textOf([other], name, id ?? external_id ?? '', place)
      const source = external_source?.startsWith('$')
        ? await textAt(external_source, `relationships/${n}/external_source`, place, find)
        : external_source
      links.push({
        relType,
        direction,
        recordType,
        ...(id === undefined ? { externalId: text, externalSource: source } : { id: text }),
      })
    }
  }
  return links
}
