import { createHash } from 'node:crypto'
import type {
  EndpointRelationship,
  EndpointTool,
  LinkOperation,
  ServedOperation,
} from '../../../contract/endpoint-shapes.ts'
import { toolsOfOperation } from '../../../contract/endpoint-shapes.ts'
import type { Detail } from '../../../foundation/errors.ts'

/** A tool of one record type with its name, and its location in the request. */
export type NamedTool = {
  name: string
  recordType: string
  operation: ServedOperation
  selection: EndpointTool
  at: string
}
/** A tool of one relationship type. */
export type NamedLink = { name: string; relType: string; operation: LinkOperation; at: string }

/** Portable ids by record type; undefined when the type no longer exists. */
export type PortableIds = ReadonlyMap<string, string>

const NAME_CHARS = 64
/** Leaves room for an operation as the prefix. */
const TYPE_CHARS = 54

/** Names the tools of the selections, in their order. Omits tools of types that no longer exist. */
export const nameTools = (
  selections: readonly EndpointTool[],
  portableIds: PortableIds,
  at: (index: number) => string,
): NamedTool[] =>
  selections.flatMap((selection, i) => {
    const { record_type: recordType, name_override: override } = selection
    const operations = selection.operations.flatMap(toolsOfOperation)
    const portableId = portableIds.get(recordType)
    if (portableId === undefined) return []
    return operations.map((operation) => {
      const isWhole = override != null && operations.length === 1
      const name = isWhole ? override : `${operation}_${override ?? portableId}`
      return { name, recordType, operation, selection, at: at(i) }
    })
  })

/**
 * Names the tools of relationship types. If two ids produce the same tool name, the later one gets a hash.
 */
export function nameLinks(relationships: readonly EndpointRelationship[]): NamedLink[] {
  const plains = relationships.map(({ rel_type: id }) => id.replace(/[^A-Za-z0-9_-]/g, '_'))
  return relationships.flatMap(({ rel_type: relType, operations }, i) => {
    const plain = plains[i] ?? relType
    const isTaken = relationships.some(
      (other, n) => n < i && plains[n] === plain && other.rel_type !== relType,
    )
    const portable = isTaken || plain.length > TYPE_CHARS ? hashed(relType, plain) : plain
    return operations.map((operation) => ({
      name: `${operation}_${portable}`,
      relType,
      operation,
      at: `/relationships/${i}`,
    }))
  })
}

const hashed = (id: string, plain: string): string =>
  `${plain.slice(0, TYPE_CHARS - 7)}_${createHash('sha256').update(id).digest('hex').slice(0, 6)}`

/** Finds invalid tool names, and names used by two tools. */
export function nameFaults(tools: readonly { name: string; at: string }[]): Detail[] {
  const owners = new Map<string, string>()
  return tools.flatMap(({ name, at }) => {
    const owner = owners.get(name)
    owners.set(name, owner ?? at)
    if (owner !== undefined) return [givenTwice(name, at, owner)]
    return name.length > NAME_CHARS ? [tooLong(name, at)] : []
  })
}

const givenTwice = (name: string, at: string, owner: string): Detail => ({
  path: at,
  code: 'duplicate',
  message: `Two tools would be named "${name}": this one and that of ${owner}. Send another name_override for one of them.`,
  received: name,
})

const tooLong = (name: string, at: string): Detail => ({
  path: `${at}/name_override`,
  code: 'invalid',
  message: `"${name}" is longer than the ${NAME_CHARS} characters of a tool name. Shorten the override.`,
  received: name,
})
