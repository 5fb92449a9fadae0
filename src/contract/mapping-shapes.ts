/** Zod shapes of mappings: what becomes of JSON of another system. */
import { z } from 'zod'
import { LIMITS } from '../foundation/limits.ts'

export const JsonPath = z
  .string()
  .max(LIMITS.jsonPathChars, `A JSONPath can have at most ${LIMITS.jsonPathChars} characters.`)

/** Values of one side by those of the other. */
export const TranslatedValues = z
  .record(z.string(), z.unknown())
  .refine(
    (values) => Object.keys(values).length <= LIMITS.mappedValues,
    `Translate at most ${LIMITS.mappedValues} values.`,
  )

/** What a field gets: a JSONPath, or a JSONPath with what is done to the value that it finds. */
const FieldMapping = z.union([
  JsonPath,
  z.strictObject({
    path: JsonPath,
    values: TranslatedValues.optional().meta({
      description: 'Translates values: `{ "closed_won": "won" }`.',
    }),
    date_format: z.string().min(1).max(64).optional().meta({
      description:
        'How the payload writes a time: a Unicode pattern such as `dd.MM.yyyy HH:mm`, `iso`, `unix` or `unix_ms`.',
    }),
    default: z.unknown().optional().meta({ description: 'The value if the path finds nothing or null.' }),
  }),
])
export type FieldMapping = z.output<typeof FieldMapping>

/** Properties of a record, each with what it gets. */
export const mappedFields = (description: string) =>
  z
    .record(z.string().min(1).max(LIMITS.nameChars), FieldMapping)
    .refine(
      (fields) => Object.keys(fields).length <= LIMITS.mappedFields,
      `Map at most ${LIMITS.mappedFields} fields.`,
    )
    .meta({ description })
