/** Zod shapes of external sources: record types that another system holds. */
import { z } from 'zod'
import { LIMITS } from '../foundation/limits.ts'
import { ID_RULES, isTypeId } from './ids.ts'
import { JsonPath, mappedFields, TranslatedValues } from './mapping-shapes.ts'
import { HeaderName, WrittenHeaderValue } from './outgoing-headers.ts'

/** What a source can do. */
export const SOURCE_OPERATIONS = ['get', 'list', 'create', 'update'] as const
export type SourceOperation = (typeof SOURCE_OPERATIONS)[number]

/** What a url can name, by operation. */
export const URL_VALUES: Readonly<Record<SourceOperation, readonly string[]>> = {
  get: ['external_id'],
  list: ['limit', 'offset', 'page'],
  create: ['external_id'],
  update: ['external_id'],
}

const request = <M extends string>(methods: readonly [M, ...M[]], url: string) =>
  z.strictObject({
    url: z.string().min(1).max(2048).meta({ description: url }),
    method: z
      .enum(methods)
      .optional()
      .meta({ description: `Defaults to \`${methods[0]}\`.` }),
    response_path: JsonPath.optional().meta({
      description: 'The JSONPath of the record in the answer. Defaults to `$`, the whole answer.',
    }),
  })

const READ_METHODS = ['GET', 'POST'] as const

const SentField = z.union([
  z.string().min(1).max(LIMITS.jsonPathChars),
  z.strictObject({
    path: z.string().min(1).max(LIMITS.jsonPathChars),
    values: TranslatedValues.optional().meta({
      description: 'Translates values: `{ "won": "closed_won" }`.',
    }),
  }),
])
/** Where the other system has a property, and how it says its values. */
export type SentField = z.output<typeof SentField>

const Source = z
  .strictObject({
    name: z
      .string()
      .refine(isTypeId, `The name of a source must be ${ID_RULES.type}.`)
      .meta({ description: 'The `external_source` of calls that go to the source.' }),
    auth: z
      .strictObject({
        header: HeaderName.meta({ description: 'The header with the credential, such as `Authorization`.' }),
        value_template: WrittenHeaderValue.min(1).meta({
          description: 'Its value, with a secret of the vault: `Bearer {{secret:NAME}}`.',
        }),
      })
      .optional()
      .meta({ description: 'The credential of each request.' }),
    get: request(READ_METHODS, 'With `{{external_id}}`.')
      .optional()
      .meta({ description: 'Reads one record.' }),
    list: request(READ_METHODS, 'With `{{limit}}` and `{{offset}}` or `{{page}}`, which counts from 1.')
      .extend({
        response_path: JsonPath.optional().meta({
          description: 'The JSONPath of the array of records. Defaults to `$`.',
        }),
        total_path: JsonPath.optional().meta({ description: 'The JSONPath of the number of all records.' }),
      })
      .optional()
      .meta({ description: 'Reads a page of records.' }),
    create: request(['POST', 'PUT', 'PATCH'], 'With `{{external_id}}` if the caller names the record.')
      .optional()
      .meta({ description: 'Creates a record.' }),
    update: request(['PUT', 'PATCH', 'POST'], 'With `{{external_id}}`.')
      .optional()
      .meta({ description: 'Changes a record.' }),
    field_mapping: z
      .strictObject({
        to_external: z
          .record(z.string().min(1).max(LIMITS.nameChars), SentField)
          .refine(
            (fields) => Object.keys(fields).length <= LIMITS.mappedFields,
            `Map at most ${LIMITS.mappedFields} fields.`,
          )
          .optional()
          .meta({
            description:
              'Properties of `data`, each with the field that it is sent as: a name, or a JSONPath of names such as `$.properties.email`. Without it, `data` is sent as it is.',
          }),
        to_plinth: mappedFields(
          'Properties of `data`, each with its JSONPath in a record of the source; and `external_id`. Without other fields, `data` is the record of the source.',
        ).optional(),
      })
      .optional(),
  })
  .meta({ id: 'Source' })
/** An external source, as it is declared. */
export type Source = z.output<typeof Source>

/** The external sources of a record type. */
export const Sources = z
  .array(Source)
  .max(LIMITS.typeSources, `A record type can have at most ${LIMITS.typeSources} sources.`)
  .meta({ description: 'Other systems that hold records of the type. Replaces the whole list.' })
