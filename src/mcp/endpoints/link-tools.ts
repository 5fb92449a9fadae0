import { oneFault } from '../../foundation/errors.ts'
import { withPlanned } from '../tool/planned-arguments.ts'
import type { EndpointTool } from '../tool/tool-binding.ts'
import { batchTool } from '../tools/batch.ts'
import { relatedTool } from '../tools/related.ts'
import { relationshipTool } from '../tools/relationships.ts'
import { sqlTool } from '../tools/sql.ts'
import { undoTool } from '../tools/undo.ts'
import type { ServedLink } from './served-endpoint.ts'

/**
 * Builds a tool for one relationship type. An end with a single possible record type takes no type argument.
 * `mayReplace`: the address may remove links of the type.
 */
export function linkTool(
  { name, relType, operation, sources, targets }: ServedLink,
  mayReplace: boolean,
): EndpointTool {
  const ends =
    operation === 'related'
      ? { record_type: [...new Set([...sources, ...targets])] }
      : { source_record_type: sources, target_record_type: targets }
  const fixed = Object.entries(ends).flatMap(([key, ids]) => (ids.length === 1 ? [[key, ids[0]]] : []))
  const open = Object.entries(ends).filter(([, ids]) => ids.length > 1)
  const generic = operation === 'related' ? relatedTool : relationshipTool
  const bound = generic.bind({
    name,
    title: `${TITLES[operation] ?? 'Link'} ${relType}`,
    description: `${WORDS[operation] ?? ''} by "${relType}".${operation === 'related' ? '' : endsIn(sources, targets)}`,
    given: {
      rel_type: relType,
      ...(operation !== 'related' && { remove: operation === 'unlink' }),
      ...Object.fromEntries(fixed),
    },
    without: operation === 'unlink' ? ['data', 'replace'] : mayReplace ? [] : ['replace'],
    only: Object.fromEntries(open),
  })
  return { ...bound, recordType: null, operation }
}

const TITLES: Readonly<Record<string, string>> = { link: 'Link', unlink: 'Unlink', related: 'Related' }
const WORDS: Readonly<Record<string, string>> = {
  link: 'Relate source to target',
  unlink: 'Remove the link of source and target',
  related: 'Records linked to one',
}

/** Names the record type of an id whose type is fixed, because no argument shows it. */
const endsIn = (sources: readonly string[], targets: readonly string[]): string =>
  Object.entries({ source_id: sources, target_id: targets })
    .map(([end, ids]) => (ids.length === 1 ? ` ${end} is of a record of type "${ids[0]}".` : ''))
    .join('')

type Batch = { records: Record<string, string[]>; relationships: Record<string, string[]> }

/**
 * Builds the batch tool of an endpoint, limited to the operations that the endpoint offers as single tools.
 */
export function endpointBatch(served: unknown): EndpointTool {
  const offered = served as Batch
  const words = [...new Set(Object.values({ ...offered.records, ...offered.relationships }).flat())]
  const bound = batchTool.bind({
    name: 'batch',
    title: 'Batch',
    description: `All or none of: {type, record_type, id, data}. type: ${words.join(', ')}. id {$ref: x}: one named x.`,
    given: {},
  })
  return {
    ...bound,
    recordType: null,
    operation: 'batch',
    call: async (sent, place, caller) => {
      const args = await withPlanned(sent, true, [place.at, 'batch'], place.context)
      const { operations } = args
      if (Array.isArray(operations))
        for (const [i, each] of operations.entries()) checkOffered(each, i, offered)
      return bound.call(args, place, caller)
    },
  }
}

/**
 * Checks one batch operation against the offered ones. Malformed operations are left to the batch validation.
 * @throws FORBIDDEN
 */
function checkOffered(raw: unknown, i: number, { records, relationships }: Batch): void {
  const {
    type: sent,
    record_type,
    rel_type,
    relationships: links,
    replace,
  } = Object(raw) as Record<string, unknown>
  if (typeof sent !== 'string') return
  const type = sent === 'create_relationship' ? 'upsert_relationship' : sent
  const known = typeof rel_type === 'string' ? relationships : records
  const allowed = own(known, typeof rel_type === 'string' ? rel_type : record_type)
  // A link is deleted by id, which does not show its type. So without `rel_type`, every type must allow the
  // delete.
  const anyLink = type === 'delete_relationship' && rel_type === undefined
  if (anyLink || !allowed.includes(type)) throw notOffered(`/operations/${i}/type`, type, allowed)
  // A link that replaces another one deletes that.
  if (replace && !allowed.includes('delete_relationship'))
    throw notOffered(`/operations/${i}/replace`, 'delete_relationship', allowed)
  for (const link of Array.isArray(links) ? links : [])
    if (
      !own(relationships, (Object(link) as Record<string, unknown>)['rel_type']).includes(
        'upsert_relationship',
      )
    )
      throw notOffered(`/operations/${i}/relationships`, 'upsert_relationship', [])
}

const own = (of: Record<string, string[]>, key: unknown): readonly string[] =>
  typeof key === 'string' && Object.hasOwn(of, key) ? (of[key] ?? []) : []

const notOffered = (path: string, received: string, allowed: readonly string[]) =>
  oneFault('FORBIDDEN', `This address does not offer "${received.slice(0, 64)}" of that type.`, {
    path,
    code: 'not_offered',
    message: 'A batch can do what the other tools of this address do. tools/list lists them.',
    received: received.slice(0, 64),
    allowed,
  })

/** Builds the undo tool of an endpoint: for requests of the caller at the endpoint, which the engine finds. */
export function endpointUndo(): EndpointTool {
  const bound = undoTool.bind({
    name: 'undo',
    title: 'Undo',
    description: 'Undo your last request here (again: further back), or one by request_id. Plans first.',
    given: {},
    without: ['actor', 'since', 'until', 'record_type', 'seq', 'on_conflict', 'with_effects'],
  })
  return { ...bound, recordType: null, operation: 'undo' }
}

/** The SQL tool of an endpoint, over the types without restrictions. */
export const endpointSql = {
  available: sqlTool.available,
  tool(): EndpointTool {
    const { description, annotations } = sqlTool.define(false)
    const bound = sqlTool.bind({ name: 'sql_query', title: annotations.title, description, given: {} })
    return { ...bound, recordType: null, operation: 'sql_query' }
  },
}
