import { z } from 'zod'
import { LIMITS } from '../foundation/limits.ts'
import { Filter } from './query-shapes.ts'
import { Description, Name } from './shapes.ts'

/** Zod shapes of endpoints and toolsets, shared by all layers. */

const TOOL_OPERATIONS = [
  'create',
  'get',
  'list',
  'update',
  'upsert',
  'delete',
  'cancel',
  'aggregate',
  'history',
  'claim',
  'attach',
] as const
export type ToolOperation = (typeof TOOL_OPERATIONS)[number]

/** What the tools of a selection do: an operation can give several. */
export type ServedOperation = ToolOperation | 'complete' | 'release' | 'attachments'
export const toolsOfOperation = (operation: ToolOperation): readonly ServedOperation[] =>
  SEVERAL[operation] ?? [operation]

const SEVERAL: Partial<Record<ToolOperation, readonly ServedOperation[]>> = {
  claim: ['claim', 'complete', 'release'],
  attach: ['attach', 'attachments'],
}

const LINK_OPERATIONS = ['link', 'unlink', 'related'] as const
export type LinkOperation = (typeof LINK_OPERATIONS)[number]

/** Maps tool operations to batch operations. The batch tool of an endpoint accepts both names. */
export const BATCHED = {
  create: 'create_record',
  update: 'patch_record',
  upsert: 'upsert_record',
  delete: 'delete_record',
  cancel: 'cancel_record',
  link: 'upsert_relationship',
  unlink: 'delete_relationship',
} as const satisfies Partial<Record<ToolOperation | LinkOperation, string>>
const BATCH_WORDS = [...Object.values(BATCHED), ...(Object.keys(BATCHED) as (keyof typeof BATCHED)[])]

const operations = <const T extends readonly string[]>(names: T) =>
  z.array(z.enum(names)).min(1, 'It must name at least one operation.')

const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/

export const EndpointTool = z
  .strictObject({
    record_type: z.string().meta({ description: 'A record type of the base.' }),
    operations: operations(TOOL_OPERATIONS).meta({
      description:
        'Each is a tool `<operation>_<type>`. `claim` also gives `complete_<type>` and `release_<type>`, `attach` also gives `attachments_<type>`, which reads.',
    }),
    name_override: z
      .string()
      .regex(TOOL_NAME, 'A tool name must have 1 to 64 letters, digits, "_" or "-".')
      .nullable()
      .optional()
      .meta({
        description:
          'With one operation: the name of the tool. With several: replaces the type in their names.',
      }),
    description_override: z
      .string()
      .min(1, 'It must have at least one character.')
      .max(LIMITS.toolDescriptionChars, `It must have at most ${LIMITS.toolDescriptionChars} characters.`)
      .nullable()
      .optional()
      .meta({ description: "Shown instead of the type's description." }),
    fields: z
      .array(z.string())
      .min(1, 'It must name at least one field.')
      .max(LIMITS.fieldNames, `It can name at most ${LIMITS.fieldNames} fields.`)
      .nullable()
      .optional()
      .meta({
        description:
          'Field policy: the fields that the tools can read and write, such as `data.name`. Defaults to all.',
      }),
    filter: Filter.nullable()
      .optional()
      .meta({ description: 'Row policy: the records that the tools can reach. All others are 404.' }),
    write_filter: Filter.nullable().optional().meta({
      description:
        'What a record must match after a write. Defaults to `filter`; `{}` is no condition. A record that leaves `filter` so is out of reach afterwards.',
    }),
    defaults: z
      .record(z.string(), z.unknown())
      .nullable()
      .optional()
      .meta({ description: 'Default values of `data` for new records.' }),
  })
  .meta({ id: 'EndpointTool' })
/** One tool selection of an endpoint: operations on a record type, and their restrictions. */
export type EndpointTool = z.output<typeof EndpointTool>

const EndpointRelationship = z
  .strictObject({
    rel_type: z.string().meta({ description: 'A relationship type of the base.' }),
    operations: operations(LINK_OPERATIONS).meta({ description: 'Each is a tool `<operation>_<rel_type>`.' }),
  })
  .meta({ id: 'EndpointRelationship' })
export type EndpointRelationship = z.output<typeof EndpointRelationship>

const EndpointAction = z.union([
  z.string(),
  z
    .strictObject({ id: z.string(), run_as: z.enum(['caller', 'action']).optional() })
    .meta({ id: 'EndpointAction' }),
])
/** With whose rights the steps of an action run: those of its caller at the endpoint, or `write` on the base. */
export type RunAs = 'caller' | 'action'

/** The actions that an endpoint names. */
export const actionsOf = ({ actions }: { readonly actions: unknown }) =>
  (actions as readonly z.output<typeof EndpointAction>[]).map((named): { id: string; runAs: RunAs } =>
    typeof named === 'string'
      ? { id: named, runAs: 'caller' }
      : { id: named.id, runAs: named.run_as ?? 'caller' },
  )

const EndpointBatch = z
  .strictObject({
    enabled: z.boolean(),
    operations: z.array(z.enum(BATCH_WORDS)).nullable().optional().meta({
      description:
        'The operations of the batch tool, out of those that the tools allow. Names of batch operations (`create_record`) or of tools (`create`). Defaults to all.',
    }),
  })
  .meta({ id: 'EndpointBatch' })
export type EndpointBatch = z.output<typeof EndpointBatch>

const Tools = z
  .array(EndpointTool)
  .max(LIMITS.endpointTools, `It can have at most ${LIMITS.endpointTools} tool selections.`)

/** The body of a toolset on every surface. */
export const ToolsetBody = z.strictObject({
  name: Name.optional().meta({ description: 'Defaults to the id.' }),
  description: Description.optional(),
  tools: Tools.optional().meta({ description: 'Defaults to none.' }),
})

/** The body of an endpoint on every surface. */
export const EndpointBody = ToolsetBody.extend({
  instructions: z
    .string()
    .refine(
      (text) => new TextEncoder().encode(text).length <= LIMITS.instructionsBytes,
      `It must have at most ${LIMITS.instructionsBytes} bytes: clients truncate longer instructions.`,
    )
    .nullable()
    .optional()
    .meta({ description: 'Shown to the model before any tool.' }),
  toolsets: z
    .array(z.string())
    .max(LIMITS.endpointToolsets, `It can name at most ${LIMITS.endpointToolsets} toolsets.`)
    .optional()
    .meta({ description: 'Toolsets whose tools are added to its own.' }),
  relationships: z
    .array(EndpointRelationship)
    .max(LIMITS.endpointTools, `It can have at most ${LIMITS.endpointTools} of them.`)
    .optional(),
  batch: EndpointBatch.optional().meta({ description: 'Defaults to disabled.' }),
  sql_query: z.boolean().optional().meta({
    description: 'Offer `sql_query` on the types that have no `filter` and no `fields`. Defaults to false.',
  }),
  actions: z
    .array(EndpointAction)
    .max(LIMITS.endpointToolsets, `It can name at most ${LIMITS.endpointToolsets} actions.`)
    .optional()
    .meta({
      description:
        'Actions that it offers as tools, each by its id or as `{ id, run_as }`. By `caller` (default), the policies of the endpoint hold in the steps. By `action`, the steps run with `write` on the base, and the caller sees the output only.',
    }),
  undo: z.boolean().optional().meta({
    description:
      'Offer `undo`: a caller takes back its own requests at this endpoint, within the policies. Defaults to false.',
  }),
  resources: z
    .boolean()
    .optional()
    .meta({ description: 'Also offer what its tools can read as resources. Defaults to false.' }),
  enabled: z
    .boolean()
    .optional()
    .meta({ description: 'If false, its address returns 404. Defaults to true.' }),
})
