import { z } from 'zod'
import { LIMITS } from '../foundation/limits.ts'
import { MigrationSteps } from './shapes.ts'

/** The kinds of configuration, as promotions and diffs name them. */
export const CONFIG_KINDS = [
  'record_type',
  'relationship_type',
  'file_type',
  'trigger',
  'inbound_webhook',
  'endpoint',
  'toolset',
  'action',
  'seed',
] as const

/** The member of a config file that lists the resources of a kind. */
export const listName = (kind: string): string => `${kind}s`

const list = z.array(z.looseObject({ id: z.string() })).optional()

/** A config file, with the resources still unchecked. */
export const ConfigBody = z.strictObject({
  plinth: z.literal(1).meta({ description: 'The version of the format.' }),
  base: z.string().meta({ description: 'The base that it was pulled from: a preview, or its production.' }),
  ...(Object.fromEntries(CONFIG_KINDS.map((kind) => [listName(kind), list])) as Record<string, typeof list>),
  hash: z
    .string()
    .optional()
    .meta({ description: 'The state that it was pulled at. Another state of the base is a 409.' }),
})

const migration = z.record(z.string(), MigrationSteps).optional().meta({
  description:
    'Steps that migrate the records of production, by record type: `{ "deal": [{ "op": "rename", "field": "data.sum", "to": "data.amount" }] }`.',
})

const reviewNote = z.string().min(1).max(LIMITS.descriptionChars).optional()

const DRAFTS = ['record', 'relationship'] as const
const draft = {
  record_type: z.string().optional().meta({ description: 'Of a record.' }),
  id: z.string(),
}
/** What a promotion names: a resource of configuration, or a record or relationship of a change-set. */
const Resource = z.strictObject({
  kind: z.enum([...CONFIG_KINDS, ...DRAFTS]),
  ...draft,
  fields: z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .meta({ description: 'Of a record: these fields only, such as `data.amount`.' }),
})
/** What a verdict names: a record or relationship of a change-set, or some fields of one. */
export const ChangedResource = Resource.extend({ kind: z.enum(DRAFTS) })

/** The body that takes changes out of a change-set. */
export const DiscardBody = z.strictObject({
  resources: z
    .array(ChangedResource)
    .min(1)
    .max(LIMITS.changeSetRows)
    .meta({ description: 'The records and relationships whose changes go, or fields of updates.' }),
  dry_run: z.boolean().optional().meta({ description: 'Show the changes and store nothing.' }),
})

const Resolution = z
  .strictObject({
    kind: z.enum(DRAFTS).optional().meta({ description: '`record`, as by default.' }),
    record_type: z.string().optional().meta({ description: 'Of a record.' }),
    id: z.string(),
    field: z.string().optional().meta({
      description: 'The field, such as `data.amount`. Without it, all of the record.',
    }),
    take: z.enum(['preview', 'production', 'value']),
    value: z.unknown().optional().meta({ description: 'With `take: value`, and a field.' }),
  })
  .superRefine(({ take, field, value }, context) => {
    const wrong = (name: string, code: string, message: string) =>
      context.addIssue({ code: 'custom', path: [name], params: { code }, message })
    if (take !== 'value' && value !== undefined)
      wrong('value', 'exclusive', `take "${take}" takes no value. Leave value out, or send take "value".`)
    if (take === 'value' && value === undefined)
      wrong('value', 'required', 'Send value, the value that the field gets, or another take.')
    if (take === 'value' && field === undefined)
      wrong('field', 'required', 'Send field, the field that gets the value, such as "data.amount".')
  })

/** Refuses a second word on a field: one of them would do nothing. */
function saysOnce(all: readonly z.output<typeof Resolution>[], context: z.core.$RefinementCtx) {
  const said = new Set<string>()
  for (const [n, { kind = 'record', record_type = '', id, field = '' }] of all.entries()) {
    const path = field.startsWith('/') ? field.slice(1).replaceAll('/', '.') : field
    const key = JSON.stringify([kind, record_type, id, path])
    const message = 'An item before it says how this conflict ends. Leave one of them out.'
    if (said.has(key)) context.addIssue({ code: 'custom', path: [n], params: { code: 'duplicate' }, message })
    said.add(key)
  }
}

const resolve = z
  .array(Resolution)
  .superRefine(saysOnce)
  .max(LIMITS.changeSetRows)
  .optional()
  .meta({ description: 'Of a change-set: how each conflict ends, and what production refuses.' })

const from = z.string().meta({ description: 'The preview, such as `crm--dev`.' })

/** The body of a proposal: what is to be promoted. */
export const ProposalBody = z.strictObject({
  from: from.optional().meta({
    description:
      'The preview, such as `crm--dev`. A token that proposes may leave it out: it is the change-set that it writes to, or wrote to last.',
  }),
  prune: z.boolean().optional().meta({ description: 'Also delete what the preview deleted.' }),
  resources: z
    .array(Resource)
    .max(LIMITS.changeSetRows)
    .optional()
    .meta({ description: 'Promote these resources only. By default, all that the preview changed.' }),
  migration,
  resolve,
})

/** The body of a promotion. */
export const PromoteBody = ProposalBody.extend({
  from,
  dry_run: z.boolean().optional().meta({ description: 'Show the changes and store nothing.' }),
  revision: z.int().optional().meta({
    description: 'Of a change-set: the revision that was looked at. Another one is 409 `changed_since`.',
  }),
  hash: z.string().optional().meta({
    description:
      'Of a preview of configuration: the hash of what was looked at. Another one is 409 `hash_mismatch`.',
  }),
  force: z.boolean().optional().meta({
    description: 'Take the preview where both sides changed, and delete types together with their records.',
  }),
})

/** What waits for a person: a promotion that is asked for. Who decides it says how conflicts end. */
export const ReviewBody = ProposalBody.omit({ resolve: true }).extend({
  kind: z.literal('promotion').optional().meta({ description: '`promotion`, as by default.' }),
  title: z
    .string()
    .min(1)
    .max(LIMITS.nameChars)
    .optional()
    .meta({ description: 'What a person reads first. Defaults to the name of the preview.' }),
  note: reviewNote.meta({ description: 'A word to who decides.' }),
  dry_run: z.boolean().optional().meta({ description: 'Store nothing.' }),
})

/** The body that submits a change-set: a request for its review, by its own address. */
export const SubmitBody = z.strictObject({
  title: ReviewBody.shape.title,
  comment: ReviewBody.shape.note,
  dry_run: ReviewBody.shape.dry_run,
})

/** The decision on a review request. */
export const DecisionBody = z.strictObject({
  decision: z.enum(['accept', 'decline', 'send_back']).meta({
    description: '`accept` promotes, or resumes the token. `send_back` asks for a change, `decline` ends it.',
  }),
  note: reviewNote.meta({ description: 'A word to who asked.' }),
  resources: ProposalBody.shape.resources,
  migration: ProposalBody.shape.migration,
  resolve,
  revision: z.int().optional().meta({
    description: 'Of a change-set: the revision that was looked at. Defaults to the one that was asked for.',
  }),
  dry_run: z.boolean().optional().meta({ description: 'Decide nothing.' }),
})

/** The body that pauses a token, and that which resumes it. */
export const PauseBody = z.strictObject({
  note: reviewNote.meta({ description: 'Why: its calls that are refused, and who looks, read it.' }),
  dry_run: z.boolean().optional().meta({ description: 'Change nothing.' }),
})

/** The body of a rollback. */
export const RollbackBody = z.strictObject({
  promotion_id: z.string().meta({ description: 'The promotion to undo.' }),
  resources: z
    .array(Resource.omit({ fields: true }))
    .min(1)
    .max(LIMITS.changeSetRows)
    .optional()
    .meta({
      description:
        'Take these back only. By default, all that the promotion changed and is not taken back yet.',
    }),
  dry_run: z.boolean().optional().meta({ description: 'Show the changes and store nothing.' }),
  migration,
})
