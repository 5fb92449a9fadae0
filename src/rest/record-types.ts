import { z } from 'zod'
import { RecordTypeBody, RecordTypePut } from '../contract/shapes.ts'
import { Sources } from '../contract/source-shapes.ts'
import { invalid } from '../foundation/errors.ts'
import { crud, WarningsMeta } from './route/crud.ts'
import { flag } from './route/query.ts'
import { baseAccess, time } from './route/shapes.ts'

const JsonObject = z.record(z.string(), z.unknown())

const Index = z
  .object({
    fields: z.array(z.union([z.string(), z.object({ field: z.string(), direction: z.literal('desc') })])),
    unique: z.boolean(),
    type: z.enum(['btree', 'text']),
    status: z
      .enum(['building', 'ready', 'failed'])
      .optional()
      .meta({ description: 'Build state. Absent in earlier versions.' }),
    duplicates: z
      .array(z.object({ values: z.array(z.unknown()), ids: z.array(z.string()) }))
      .optional()
      .meta({ description: 'Why the build failed: the first ten groups of records with the same values.' }),
  })
  .meta({ id: 'Index' })

const RecordType = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    icon: z.string().nullable(),
    color: z.string().nullable(),
    json_schema: JsonObject.meta({ description: 'JSON Schema 2020-12, or draft-07 when `$schema` says so.' }),
    indexes: z.array(Index),
    timezone: z.string(),
    sources: Sources,
    display: JsonObject.meta({ description: 'Free-form data for user interfaces.' }),
    version: z.int(),
    created_at: time,
    updated_at: time,
    dry_run: z.literal(true).optional(),
    meta: WarningsMeta,
  })
  .meta({ id: 'RecordType' })

const changeQuery = z.strictObject({
  on_invalid: z
    .enum(['allow'])
    .optional()
    .meta({ description: '`allow`: keep records that violate the schema, flagged `valid: false`.' }),
  migrate: flag('Migrate existing records with the steps in `migration`.'),
})
type ChangeQuery = z.output<typeof changeQuery>

function onInvalid({ on_invalid, migrate }: ChangeQuery) {
  if (migrate && on_invalid)
    throw invalid({
      path: 'query/on_invalid',
      code: 'disagrees',
      message: 'on_invalid=allow and migrate=true exclude each other. Send one of them.',
    })
  return migrate ? ('migrate' as const) : (on_invalid ?? ('refuse' as const))
}

/** REST routes of record types. */
export const recordTypes = crud('/:base_id/record-types', {
  tag: 'Record types',
  label: 'A record type',
  body: RecordTypeBody,
  sent: RecordTypePut,
  answers: RecordType,
  needs: {
    list: baseAccess,
    read: ({ base_id = '', id = '' }) => ({ permission: 'read', base: base_id, recordType: id }),
    write: ({ base_id = '', id = '' }) => ({ permission: 'manage', base: base_id, recordType: id }),
  },
  writes: {
    query: changeQuery,
    variables: (query, { migration }) => ({ onInvalid: onInvalid(query), migration }),
  },
  confirm: "The type's id. Required if it has records.",
  renamed: { record_type: 'id' },
})
