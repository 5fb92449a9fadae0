import type { EndpointRelationship } from '../../../contract/endpoint-shapes.ts'
import type { Detail } from '../../../foundation/errors.ts'

type Ends = { readonly sourceRecordTypes: readonly string[]; readonly targetRecordTypes: readonly string[] }

/** The record types with tools that may be at an end; `*` is any. */
export const typesAtEnd = (named: readonly string[], withTools: readonly string[]): string[] =>
  withTools.filter((id) => named.includes('*') || named.includes(id))

/** Finds relationships that would make no tool, because an end has no record type with tools. */
export function linkFaults(
  relationships: readonly EndpointRelationship[],
  types: ReadonlyMap<string, Ends>,
  tools: readonly { recordType: string }[],
): Detail[] {
  const withTools = [...new Set(tools.map(({ recordType }) => recordType))]
  return relationships.flatMap(({ rel_type }, i) => {
    const type = types.get(rel_type)
    if (!type) return []
    const ends = { source: type.sourceRecordTypes, target: type.targetRecordTypes }
    return Object.entries(ends).flatMap(([end, named]): Detail[] =>
      typesAtEnd(named, withTools).length > 0
        ? []
        : [noTools(rel_type, end, named, `/relationships/${i}/rel_type`)],
    )
  })
}

const noTools = (relType: string, end: string, named: readonly string[], path: string): Detail => ({
  path,
  code: 'no_tools_for_end',
  message: `The endpoint has no tools for a ${end} of "${relType}". Add a selection in tools for one of its ${end} types, or leave the relationship out.`,
  received: relType,
  ...(!named.includes('*') && { allowed: named }),
})
