import { z } from 'zod'
import { LIMITS } from './limits.ts'

/** The shapes of JSON that every surface takes alike. A leaf: engine and surfaces check against the same ones. */

const text = (max: number) =>
  z.string().min(1, 'It has at least one character.').max(max, `It has at most ${max} characters.`)

const Name = text(LIMITS.nameChars)
const Description = z
  .string()
  .max(LIMITS.descriptionChars, `It has at most ${LIMITS.descriptionChars} characters.`)
  .nullable()

export const BaseSettings = z
  .strictObject({
    schema_changes: z
      .enum(['direct', 'preview_only'])
      .optional()
      .meta({ description: '`preview_only`: production takes configuration only by promotion.' }),
    history_days: z
      .int()
      .min(1)
      .max(36_500)
      .nullable()
      .optional()
      .meta({ description: 'Days that history is kept; null for ever.' }),
    trash_days: z
      .int()
      .min(0)
      .max(36_500)
      .optional()
      .meta({ description: 'Days that a deleted record can be restored. 30 when left out.' }),
  })
  .meta({ id: 'BaseSettings' })

export const BaseBody = z.strictObject({
  name: Name.optional().meta({ description: 'The id when left out.' }),
  description: Description.optional(),
  settings: BaseSettings.optional(),
})

const names = z.union([text(64), z.array(text(64)).min(1, 'It names at least one.').max(1000)], {
  error: 'It is an id, a list of ids, or "*".',
})

export const Grant = z
  .strictObject({
    base: names.meta({
      description: 'A base id, a list of them, or `*`. A grant on a base reaches its previews too.',
    }),
    record_type: names.meta({ description: 'A record type id, a list of them, or `*`.' }),
    environment: z.enum(['production', 'preview', '*']),
    permission: z
      .enum(['read', 'write', 'manage', 'admin'])
      .meta({ description: 'Each level holds those before it.' }),
  })
  .meta({ id: 'Grant' })

export const TokenBody = z.strictObject({
  name: Name,
  grants: z.array(Grant).min(1, 'A token needs at least one grant.').max(100),
  expires_at: z.iso
    .datetime({ offset: true, error: 'It is a time such as 2026-01-31T09:30:00Z.' })
    .nullable()
    .optional(),
})

/** What a record type is, beside its schema. */
export const RecordTypeTexts = z.strictObject({
  name: Name.optional().meta({ description: 'The id when left out.' }),
  description: Description.optional(),
  icon: z.string().max(LIMITS.nameChars).nullable().optional(),
  color: z.string().max(64).nullable().optional(),
})

const IndexTerm = z.union(
  [z.string(), z.strictObject({ field: z.string(), direction: z.enum(['asc', 'desc']).optional() })],
  { error: 'A field is written "data.due" or {"field":"data.due","direction":"desc"}.' },
)

/** An index of a record type, as it is declared. */
const IndexDeclaration = z
  .strictObject({
    fields: z.array(IndexTerm).min(1, 'An index has at least one field.'),
    unique: z
      .boolean()
      .optional()
      .meta({ description: 'No two records share the values; one without a value is exempt.' }),
    type: z
      .enum(['btree', 'text'])
      .optional()
      .meta({ description: '`btree`: filters, ranges and sorts. `text`: `search`.' }),
  })
  .meta({ id: 'IndexDeclaration' })
export type IndexDeclaration = z.output<typeof IndexDeclaration>

/** The indexes of a record type. */
export const IndexDeclarations = z
  .array(IndexDeclaration)
  .max(LIMITS.typeIndexes, `A record type has at most ${LIMITS.typeIndexes} indexes.`)
