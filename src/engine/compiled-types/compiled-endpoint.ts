import type { EndpointTool, LinkOperation, ToolOperation } from '../../contract/endpoint-shapes.ts'

/** A tool of one type as an endpoint serves it. */
export type ServedTool = {
  name: string
  recordType: string
  operation: ToolOperation
  /** What the author says instead of the type's description; of the only tool of a selection it is all there is to say. */
  description: { text: string | null; isOnly: boolean }
  bounds: Bounds
}
/** What a tool can see and write of its type; null is all of it, and no defaults. */
export type Bounds = { filter: object | null; fields: readonly string[] | null; defaults: object | null }

export type ServedLink = { name: string; relType: string; operation: LinkOperation }

/** An endpoint with its toolsets taken in, ready to be asked about its tools. */
export type CompiledEndpoint = {
  id: string
  enabled: boolean
  /** Differs whenever its tools may. */
  stamp: string
  instructions: string | null
  tools: readonly ServedTool[]
  links: readonly ServedLink[]
  /** What a batch may do, in its own words; null for no batch. */
  batch: { operations: readonly string[] | null } | null
  sqlQuery: boolean
  resources: boolean
  /** Names that tools had before, to later ones. */
  formerNames: ReadonlyMap<string, string>
}

/** The selection's bounds. */
export const boundsOf = ({ filter, fields, defaults }: EndpointTool): Bounds => ({
  filter: filter ?? null,
  fields: fields ?? null,
  defaults: defaults ?? null,
})
