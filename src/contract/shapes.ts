import { z } from 'zod'
import { LIMITS } from '../foundation/limits.ts'
import { ID_RULES, isPreviewName, isTypeId } from './ids.ts'
import { Sources } from './source-shapes.ts'

/** Zod shapes of configuration and records, shared by engine and surfaces. */

const text = (max: number) =>
  z
    .string()
    .min(1, 'It must have at least one character.')
    .max(max, `It must have at most ${max} characters.`)

/** Display name. */
export const Name = text(LIMITS.nameChars)
/** Free-text description. */
export const Description = z
  .string()
  .max(LIMITS.descriptionChars, `It must have at most ${LIMITS.descriptionChars} characters.`)
  .nullable()

/** The rules of a base for what is merged. */
const ChangeSetSettings = z.strictObject({
  approvals: z
    .int()
    .min(0)
    .max(10)
    .optional()
    .meta({ description: 'Approvals that a promotion of records needs. Defaults to 0.' }),
  self_approval: z
    .boolean()
    .optional()
    .meta({ description: 'Whether who wrote in a change-set may approve it. Defaults to true.' }),
  expire_days: z
    .int()
    .min(1)
    .max(3650)
    .optional()
    .meta({ description: 'Days after the last write until a change-set expires. Defaults to 30.' }),
})

export const BaseSettings = z
  .strictObject({
    schema_changes: z
      .enum(['direct', 'preview_only'])
      .optional()
      .meta({ description: '`preview_only`: configuration reaches production by promotion only.' }),
    history_days: z
      .int()
      .min(1)
      .max(36_500)
      .nullable()
      .optional()
      .meta({ description: 'Days that history is kept; null for no limit.' }),
    trash_days: z
      .int()
      .min(0)
      .max(36_500)
      .optional()
      .meta({ description: 'Days that a deleted record can be restored. Defaults to 30.' }),
    calls_days: z
      .int()
      .min(0)
      .max(365)
      .optional()
      .meta({ description: 'Days that calls are kept; 0 keeps none. Defaults to 7.' }),
    call_arguments: z
      .boolean()
      .optional()
      .meta({ description: 'Keep the start of the arguments of tool calls. Defaults to false.' }),
    change_sets: ChangeSetSettings.optional().meta({ description: 'Rules of change-sets.' }),
  })
  .meta({ id: 'BaseSettings' })

export const BaseBody = z.strictObject({
  name: Name.optional().meta({ description: 'Defaults to the id.' }),
  description: Description.optional(),
  settings: BaseSettings.optional(),
})

const COPIES = ['config', 'config_and_sample', 'on_write'] as const

/** The body that creates a preview. */
export const PreviewBody = z.strictObject({
  name: z
    .string()
    .refine(isPreviewName, `The name of a preview must be ${ID_RULES.preview}.`)
    .optional()
    .meta({
      description:
        'The part of its id after `<base>--`: the preview `dev` of `crm` is `crm--dev`. A change-set has one made if it is left out.',
    }),
  description: Description.optional(),
  title: Name.optional().meta({ description: 'Of a change-set: what it is for, in a line.' }),
  copy: z
    .enum(COPIES)
    .optional()
    .meta({
      description: `What the preview starts with. \`config\`, the default: the configuration, and no records. \`config_and_sample\`: also the newest records of each type, at most ${LIMITS.previewSample}, with the relationships among them. \`on_write\`: nothing. It is a change-set, which shows production with its own changes over it.`,
    }),
})

/** One name, or a list of names. */
const oneOrMany = (name: z.ZodString, error: string) =>
  z.union([name, z.array(name).min(1, 'It must name at least one.').max(1000)], { error })

const ID_OR_ALL = 'It must be an id, a list of ids, or "*".'
const baseNames = oneOrMany(text(64), ID_OR_ALL)

const typeName = text(64).refine(
  (name) => name === '*' || isTypeId(name),
  `It must be "*", or an id: ${ID_RULES.type}.`,
)
const typeNames = oneOrMany(typeName, ID_OR_ALL)

const endpointName = z.string().refine(isTypeId, `It must be the id of an endpoint: ${ID_RULES.type}.`)
const endpointNames = oneOrMany(endpointName, 'It must be the id of an endpoint, or a list of ids.')

const isProposing = ({ writes }: { writes?: unknown }) => writes !== undefined && writes !== 'direct'

/** Refuses proposals where there is nothing to propose, or no place to put it. */
function canPropose(
  grant: { record_type?: unknown; environment: string; permission: string; writes?: unknown },
  context: z.core.$RefinementCtx,
) {
  if (!isProposing(grant)) return
  const wrong = (path: string, message: string) =>
    context.addIssue({ code: 'custom', path: [path], params: { code: 'exclusive' }, message })
  if (grant.record_type === undefined)
    wrong('writes', 'A grant on endpoints cannot propose. Send record_type, or leave writes out.')
  if (grant.permission !== 'write')
    wrong('permission', 'A grant that proposes has the permission "write". Send it, or leave writes out.')
  if (grant.environment !== '*')
    wrong('environment', 'Send "*": what a grant proposes is in previews until it is promoted.')
}

/** Refuses a token that may write to one base both ways: one of its writes could then be half of each. */
function writesOneWay(grants: readonly z.output<typeof Grant>[], context: z.core.$RefinementCtx) {
  const basesOf = ({ base }: { base: string | readonly string[] }) => [base].flat()
  const proposing = grants.filter(isProposing).flatMap(basesOf)
  if (proposing.length === 0) return
  for (const [at, grant] of grants.entries()) {
    const isDirect = !isProposing(grant) && grant.permission !== 'read' && grant.environment !== 'preview'
    const overlaps = basesOf(grant).some(
      (base) => base === '*' || proposing.includes('*') || proposing.includes(base),
    )
    if (isDirect && overlaps)
      context.addIssue({
        code: 'custom',
        path: [at, 'writes'],
        params: { code: 'exclusive' },
        message:
          'Another grant of the token proposes writes to the same base. Send "propose" here too, or make two tokens.',
      })
  }
}

/** Refuses a grant on both record types and endpoints, or on neither. */
function namesOneKind(grant: { record_type?: unknown; endpoint?: unknown }, context: z.core.$RefinementCtx) {
  const both = grant.record_type !== undefined && grant.endpoint !== undefined
  if (both)
    context.addIssue({
      code: 'custom',
      path: ['endpoint'],
      params: { code: 'exclusive' },
      message: 'A grant names record_type or endpoint, not both. Send two grants.',
    })
  else if (grant.record_type === undefined && grant.endpoint === undefined)
    context.addIssue({
      code: 'custom',
      path: ['record_type'],
      params: { code: 'required' },
      message:
        'record_type is required: record types, or "*". To reach endpoints only, send endpoint instead.',
    })
}

const AutoRule = z
  .strictObject({
    record_type: typeName,
    operations: z.array(z.enum(['create', 'update', 'cancel', 'restore', 'delete'])).min(1),
    fields: z
      .array(z.string().regex(/^[a-z_]+(\.[^./]+)*$/, 'It must be a path such as data.stage.'))
      .min(1)
      .max(100)
      .optional()
      .meta({ description: 'What an update may change: paths such as `data.stage`. Defaults to all.' }),
    filter: z.unknown().optional().meta({
      description: 'What must hold for the record, and under `previous.` for the one before the change.',
    }),
    max: z.int().min(1).max(100_000),
    per: z.enum(['hour', 'day', 'request']),
  })
  .meta({ id: 'AutoRule', description: 'Changes of records that a token makes directly.' })

export const Grant = z
  .strictObject({
    base: baseNames.meta({
      description: 'A base id, a list of them, or `*`. A grant on a base also covers its previews.',
    }),
    record_type: typeNames.optional().meta({ description: 'A record type id, a list of them, or `*`.' }),
    endpoint: endpointNames.optional().meta({
      description:
        'In place of `record_type`: an endpoint id, or a list of them. The grant reaches these endpoints and nothing else of the base.',
    }),
    environment: z.enum(['production', 'preview', '*']),
    permission: z
      .enum(['read', 'write', 'manage', 'admin'])
      .meta({ description: 'Each level includes those before it.' }),
    writes: z
      .union([z.enum(['direct', 'propose']), z.strictObject({ auto: z.array(AutoRule).min(1).max(20) })])
      .optional()
      .meta({
        description:
          'Of a grant with `write`: `propose` puts what the token writes to production into a change-set, which a person promotes. With `auto` it writes what the rules allow directly. Defaults to `direct`.',
      }),
  })
  .superRefine(namesOneKind)
  .superRefine(canPropose)
  .meta({ id: 'Grant', oneOf: [{ required: ['record_type'] }, { required: ['endpoint'] }] })

/** Who can use a token. */
export const ACTOR_KINDS = ['person', 'agent', 'program'] as const
export type ActorKind = (typeof ACTOR_KINDS)[number]

export const TokenBody = z.strictObject({
  name: Name,
  kind: z.enum(ACTOR_KINDS).optional().meta({
    description: 'Who uses the token: it is the `kind` of the `actor` of its changes. Defaults to `program`.',
  }),
  grants: z.array(Grant).min(1, 'A token needs at least one grant.').max(100).superRefine(writesOneWay),
  expires_at: z.iso
    .datetime({ offset: true, error: 'It must be a time such as 2026-01-31T09:30:00Z.' })
    .nullable()
    .optional(),
})

/** The body of a record type without its schema. */
const RecordTypeTexts = z.strictObject({
  name: Name.optional().meta({ description: 'Defaults to the id.' }),
  description: Description.optional(),
  icon: z.string().max(LIMITS.nameChars).nullable().optional(),
  color: z.string().max(64).nullable().optional(),
})

const IndexTerm = z.union(
  [z.string(), z.strictObject({ field: z.string(), direction: z.enum(['asc', 'desc']).optional() })],
  { error: 'Write a field as "data.due" or {"field":"data.due","direction":"desc"}.' },
)

/** Declaration of one index of a record type. */
const IndexDeclaration = z
  .strictObject({
    fields: z.array(IndexTerm).min(1, 'An index needs at least one field.'),
    unique: z
      .boolean()
      .optional()
      .meta({ description: 'No two records have the same values. Records without a value are exempt.' }),
    type: z
      .enum(['btree', 'text'])
      .optional()
      .meta({ description: '`btree`: filters, ranges and sorts. `text`: `search`.' }),
  })
  .meta({ id: 'IndexDeclaration' })
export type IndexDeclaration = z.output<typeof IndexDeclaration>

/** The declared indexes of a record type. */
export const IndexDeclarations = z
  .array(IndexDeclaration)
  .max(LIMITS.typeIndexes, `A record type can have at most ${LIMITS.typeIndexes} indexes.`)

/** Version precondition in a body. */
export const expectedVersion = z
  .int()
  .min(1)
  .max(2_147_483_647)
  .optional()
  .meta({ description: 'Precondition: write only if this is the current version. Same as `If-Match`.' })

const MigrationStep = z.strictObject({
  op: z.enum(['default', 'rename', 'cast', 'replace', 'drop']),
  field: z.string(),
  to: z.string().optional(),
  from: z.unknown().optional(),
  value: z.unknown().optional(),
  type: z.enum(['string', 'number', 'integer', 'boolean']).optional(),
})

/** Steps that migrate the records of a type. */
export const MigrationSteps = z.array(MigrationStep).max(100)

/** The body of a record type PUT. */
export const RecordTypePut = RecordTypeTexts.extend({
  id: z.string().optional(),
  json_schema: z
    .unknown()
    .optional()
    .meta({ description: 'A JSON Schema whose root is an object. `{}` allows any object.' }),
  indexes: IndexDeclarations.optional().meta({
    description:
      'Replaces the whole list. Indexes are built in the background; `status` shows the state of each.',
  }),
  timezone: z.string().optional().meta({ description: 'IANA name. Defaults to UTC.' }),
  sources: Sources.optional(),
  display: z.record(z.string(), z.unknown()).optional(),
  migration: MigrationSteps.optional().meta({
    description:
      'Steps that migrate existing records in the same transaction. `rename` and `drop` change the schema too, where a patch does not state the property.',
  }),
  expected_version: expectedVersion,
})

/** The body of a record type. */
export const RecordTypeBody = RecordTypePut.omit({
  id: true,
  migration: true,
  expected_version: true,
})

/** A relationship that is written together with a record. */
export const RecordLink = z
  .strictObject({
    rel_type: z.string().meta({ description: 'A relationship type.' }),
    direction: z
      .enum(['outgoing', 'incoming'])
      .optional()
      .meta({ description: 'Defaults to `outgoing`, from the record being written.' }),
    record_type: z.string().meta({ description: 'The type of the other record.' }),
    id: z.string().optional().meta({ description: 'The other record, by its id or by its external_id.' }),
    external_id: z.string().optional(),
    external_source: z
      .string()
      .optional()
      .meta({ description: 'Defaults to `default` if only an id is given.' }),
    data: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({ description: 'If omitted, an existing relationship keeps its data.' }),
  })
  .meta({ id: 'RecordLink' })
export type RecordLink = z.output<typeof RecordLink>

/** The relationships that are written together with a record. */
export const RecordLinks = z
  .array(RecordLink)
  .max(LIMITS.recordLinks, `A record can be written with at most ${LIMITS.recordLinks} relationships.`)
  .meta({ description: 'Relationships to add in the same transaction. Existing ones stay.' })

/** Whether a relationship moves: it takes the place of another one. */
export const replace = z.boolean().optional().meta({
  description:
    'Move: delete the relationship that has its place by the cardinality of its type, or that has its id. The answer names it in `replaced`.',
})

const Ends = z
  .array(text(64))
  .min(1, 'It must name at least one record type, or send ["*"] for any.')
  .max(LIMITS.relationshipEnds, `It can name at most ${LIMITS.relationshipEnds} record types.`)

export const CARDINALITIES = ['many_to_many', 'one_to_many', 'many_to_one', 'one_to_one'] as const
export const ON_DELETE = ['unlink', 'restrict', 'cascade'] as const

/** The body of a relationship type. */
export const RelationshipTypeBody = z.strictObject({
  name: Name.optional().meta({ description: 'Defaults to the id.' }),
  description: Description.optional(),
  source_record_types: Ends.optional().meta({
    description: 'Allowed source record types. Defaults to `["*"]`, any.',
  }),
  target_record_types: Ends.optional().meta({
    description: 'Allowed target record types. Defaults to `["*"]`, any.',
  }),
  cardinality: z.enum(CARDINALITIES).optional().meta({
    description:
      '`one_to_many`: a target has at most one source; `many_to_one`: a source has at most one target; `one_to_one`: both. Defaults to `many_to_many`.',
  }),
  on_delete: z.enum(ON_DELETE).optional().meta({
    description:
      'What deleting the target does: `unlink` deletes the link, `restrict` refuses the deletion, `cascade` also deletes the source. Deleting the source always deletes the link. Defaults to `unlink`.',
  }),
  data_schema: z
    .unknown()
    .optional()
    .meta({ description: 'A JSON Schema whose root is an object. `{}` allows any object.' }),
})

/** The body of a relationship type PUT. */
export const RelationshipTypePut = RelationshipTypeBody.omit({ data_schema: true }).extend({
  id: z.string().optional(),
  data_schema: RelationshipTypeBody.shape.data_schema,
  expected_version: expectedVersion,
})
