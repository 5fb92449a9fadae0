import { z } from 'zod'
import { ID_RULES, isBaseId, isRecordId, isTypeId } from '../../contract/ids.ts'

import { ACTOR_KINDS } from '../../contract/shapes.ts'

export { expectedVersion } from '../../contract/shapes.ts'

/** A timestamp in responses. */
export const time = z
  .string()
  .meta({ format: 'date-time', description: 'RFC 3339 in UTC with milliseconds.' })

/** The code of the engine for the same fault. */
const INVALID_ID = { code: 'invalid_id' }

export const baseId = (test: (id: string) => boolean = isBaseId) =>
  z
    .string()
    .refine(test, { message: `A base id must be ${ID_RULES.base}.`, params: INVALID_ID })
    .meta({ description: `A base id: ${ID_RULES.base}.` })
/** The id of a resource of configuration: `A seed`. */
export const configurationId = (label: string, description = `${label} id.`) =>
  z
    .string()
    .refine(isTypeId, { message: `${label} id must be ${ID_RULES.type}.`, params: INVALID_ID })
    .meta({ description })
export const typeId = configurationId('A record type')
export const relTypeId = configurationId('A relationship type')
export const endpointId = configurationId('An endpoint')
export const recordId = z
  .string()
  .refine(isRecordId, { message: `A record id must be ${ID_RULES.record}.`, params: INVALID_ID })
  .meta({ description: 'A record id.' })

export const changeSeq = z
  .string()
  .regex(/^[1-9]\d{0,14}$/, 'It must be the seq of a change: a whole number from 1.')
  .transform(Number)
  .meta({ description: 'The seq of the change.', schema: { type: 'integer', minimum: 1 } })

/** Required permission for configuration: a grant on the whole base. */
export const onBase =
  <P extends 'read' | 'write' | 'manage'>(permission: P) =>
  ({ base_id = '' }) =>
    ({ permission, base: base_id, recordType: '*' }) as const

/** Required permission for records: a grant on their type. */
export const onType =
  (permission: 'read' | 'write') =>
  ({ base_id = '', record_type = '' }) =>
    ({ permission, base: base_id, recordType: record_type }) as const

/** Required permission of a route that answers what the token may read: any grant on the base. */
export const baseAccess = ({ base_id = '' }) => ({ baseAccess: base_id }) as const

/** Required permission of a route that answers what the token did itself: that it may know the base. */
export const knownBase = ({ base_id = '' }) => ({ knownBase: base_id }) as const

/** Required permission of a route that acts on several types: a grant on any of them. */
export const anywhere =
  <P extends 'write' | 'manage'>(permission: P) =>
  ({ base_id = '' }) =>
    ({ permission, anyOf: base_id }) as const

export const Actor = z
  .object({
    token_id: z.string().nullable(),
    name: z.string(),
    kind: z
      .enum(ACTOR_KINDS)
      .meta({ description: 'Who uses the token. What no token made is of a program.' }),
    via: z.string().meta({ description: 'The interface used: `rest`, `mcp`, `graphql`, `explorer`, …' }),
  })
  .meta({ id: 'Actor' })

export const ToolCall = z
  .object({
    id: z.string().meta({ description: 'Its JSON-RPC id.' }),
    tool: z.string(),
    endpoint: z.string().nullable(),
    client: z.string().nullable().meta({ description: 'Name and version of the client.' }),
    trace_id: z.string().nullable().meta({ description: 'W3C trace id.' }),
  })
  .meta({
    id: 'ToolCall',
    description:
      'The MCP tool call that made the change. A token that cannot read the whole base sees its own calls only.',
  })

/** One entry of a history: its operations, and what its diff compares. */
/** Who proposed a change that a promotion of a change-set wrote. */
export const ProposedBy = z
  .object({
    token_id: z.string().nullable(),
    name: z.string(),
    kind: Actor.shape.kind,
    request_id: z.string(),
    call: ToolCall.nullable(),
  })
  .optional()
  .meta({ description: 'Who proposed it, if it came with a change-set. `actor` is who let it pass.' })

export const versionShape = <O extends string>(operations: readonly [O, ...O[]], diff: string) =>
  z.object({
    version: z.int(),
    operation: z.enum(operations),
    at: time,
    actor: Actor,
    request_id: z.string(),
    call: ToolCall.nullable(),
    seq: z.int().meta({ description: 'The seq of the change in the change log of the base.' }),
    cause: z.string().nullable().meta({ description: 'The change, delivery or run that caused it.' }),
    diff: z.array(z.record(z.string(), z.unknown())).meta({ description: diff }),
  })

const named = z.object({ count: z.int(), names: z.array(z.string()) }).optional()
const counted = z.object({ count: z.int(), by_type: z.record(z.string(), z.int()) }).optional()

/** What a deletion deletes. */
export const Deletion = z
  .object({
    bases: named,
    record_types: named,
    relationship_types: named,
    file_types: named,
    records: counted,
    relationships: counted,
    files: counted,
    attachments: counted,
    samples: z.array(z.string()).optional().meta({ description: '`type/id` of the first records.' }),
    titles: z
      .array(z.string().nullable())
      .optional()
      .meta({ description: 'Of each sample the title, or else the id that it has elsewhere.' }),
  })
  .meta({ id: 'Deletion', description: 'What is deleted, as far as the token can read it.' })

export const Deleted = z
  .object({
    id: z.string(),
    deleted: z.literal(true),
    deletion: Deletion.optional(),
    dry_run: z.literal(true).optional(),
  })
  .meta({ id: 'Deleted' })
