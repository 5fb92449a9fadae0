import type {
  EndpointTool,
  LinkOperation,
  RunAs,
  ServedOperation,
} from '../../../contract/endpoint-shapes.ts'

/** A typed tool of an endpoint. */
export type ServedTool = {
  name: string
  recordType: string
  operation: ServedOperation
  /** The author's text in place of the type's description. `isOnly`: the selection has a single tool. */
  description: { text: string | null; isOnly: boolean }
  bounds: Bounds
}
/** Row and field policy of a tool; null for no restriction and no defaults. */
export type Bounds = {
  filter: object | null
  /** What a record must match after a write; null for the filter. */
  writeFilter: object | null
  fields: readonly string[] | null
  defaults: object | null
  attachments: boolean
  /** The schema of the type, if it has renamed properties. */
  renamedIn?: unknown
}

/** An action as a tool of an endpoint. */
export type ServedAction = {
  name: string
  id: string
  title: string
  description: string | null
  inputSchema: unknown
  /** Whether all of its steps are queries. */
  isRead: boolean
  /** Whether it sends requests. */
  isOpen: boolean
  /** The types that its steps name: what it reads, and what it writes. */
  reads: readonly string[]
  writes: readonly string[]
  runAs: RunAs
  /** Whether a step changes types, which needs rights on the whole base. */
  changesTypes: boolean
}

export type ServedLink = { name: string; relType: string; operation: LinkOperation }

/** The configuration of an endpoint without its tool selections. */
export type AboutEndpoint = {
  id: string
  name: string
  description: string | null
  instructions: string | null
  toolsets: readonly string[]
  relationships: unknown
  batch: unknown
  sqlQuery: boolean
  undo: boolean
  resources: boolean
  actions: unknown
  enabled: boolean
  version: number
  createdAt: string
  updatedAt: string
}

/** An endpoint with the tools of its toolsets, ready for look-ups. */
export type CompiledEndpoint = {
  id: string
  enabled: boolean
  /** Changes whenever its tools may have changed. */
  stamp: string
  instructions: string | null
  about: AboutEndpoint
  tools: readonly ServedTool[]
  links: readonly ServedLink[]
  actions: readonly ServedAction[]
  /** What is wrong with it, for readers of its configuration. */
  warnings: readonly string[]
  /** The operations that a batch allows; null for no batch tool. */
  batch: { operations: readonly string[] | null } | null
  sqlQuery: boolean
  undo: boolean
  resources: boolean
  /** Aliases of renamed tools, to their later names. */
  formerNames: ReadonlyMap<string, string>
}

/** Extracts the policy of a tool selection. */
export const boundsOf = ({ filter, write_filter, fields, defaults, operations }: EndpointTool): Bounds => ({
  filter: filter ?? null,
  writeFilter: write_filter ?? null,
  fields: fields ?? null,
  defaults: defaults ?? null,
  attachments: operations.includes('attach'),
})
