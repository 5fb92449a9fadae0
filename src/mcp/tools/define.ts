/** The tool define: creates and changes record types, relationship types and indexes. */
import { z } from 'zod'
import { camelFields } from '../../contract/field-names.ts'
import { writtenBody } from '../../contract/response-bodies.ts'
import { CARDINALITIES, ON_DELETE, RecordTypeBody, RelationshipTypeBody } from '../../contract/shapes.ts'
import { check, inBody } from '../../contract/validate.ts'
import { adviseBody } from '../../dialects/parameters.ts'
import { DomainError, invalid, withPaths } from '../../foundation/errors.ts'
import type { Context } from '../../graphql/context.ts'
import { compile } from '../../graphql/execute.ts'
import { kindDocuments } from '../../graphql/kind-documents.ts'
import { mergePatch } from '../../json/merge-patch.ts'
import { tool, writing } from '../tool/tool.ts'
import { type Definition, defineAll, readAlso } from './define-all.ts'
import { definedBody } from './defined-body.ts'

/** A field of a definition. The shape of its kind checks it; here, null removes it. */
const field = (type: 'string' | 'object' | 'strings' | 'objects') =>
  z
    .unknown()
    .optional()
    .meta(
      type === 'strings' || type === 'objects'
        ? { type: 'array', items: { type: type === 'strings' ? 'string' : 'object' } }
        : { type },
    )

const ofBoth = { name: field('string'), description: field('string') }
const ofRecordType = {
  json_schema: field('object'),
  indexes: field('objects'),
  timezone: field('string').meta({ type: 'string', listed: false }),
  icon: field('string').meta({ type: 'string', listed: false }),
  color: field('string').meta({ type: 'string', listed: false }),
  display: field('object').meta({ type: 'object', listed: false }),
  sources: z
    .unknown()
    .optional()
    .meta({ type: 'array', items: { type: 'object' }, listed: false }),
  migration: field('objects'),
}
const ofRelationshipType = {
  source_record_types: field('strings'),
  target_record_types: field('strings'),
  cardinality: field('string').meta({ type: 'string', enum: [...CARDINALITIES] }),
  on_delete: field('string').meta({ type: 'string', enum: [...ON_DELETE] }),
  data_schema: field('object'),
}

const one = z.strictObject({
  record_type: z.string().optional(),
  relationship_type: z.string().optional(),
  ...ofBoth,
  ...ofRecordType,
  ...ofRelationshipType,
  on_invalid: z.enum(['allow']).optional().meta({ listed: false }),
  migrate: z.boolean().optional().meta({ listed: false }),
  expected_version: z.int32().min(1).optional().meta({ listed: false }),
})
const input = z.strictObject({ ...one.shape, also: field('objects'), ...writing })
type Args = z.output<typeof one>
type TypeAddress = { base: string; id: string; expectedVersions?: number[] }
type Fields = Record<string, unknown>
type Written = Parameters<typeof writtenBody>[0]

/** @param repair the variables by which a new schema is imposed on what the base holds */
function typeKind(name: string, body: z.ZodObject, not: object, repair: (args: Args) => object) {
  const { put, patch } = kindDocuments(name, ['id', ...Object.keys(body.shape), 'version'])
  return { body, not, repair, put: compile(put), patch: compile(patch) }
}
const KINDS = {
  record_type: typeKind('record_type', RecordTypeBody, ofRelationshipType, (args) => ({
    onInvalid: repairs(args) ? 'migrate' : (args.on_invalid ?? 'refuse'),
    migration: args.migration,
  })),
  relationship_type: typeKind('relationship_type', RelationshipTypeBody, ofRecordType, (args) => ({
    allowInvalid: args.on_invalid === 'allow',
  })),
}
type KindName = keyof typeof KINDS

export const defineTool = tool('define', {
  title: 'Define types',
  description:
    'Create or change a type; also: more, all or none. Fields merge: null removes, lists replace. json_schema: {"properties":{"email":{"type":"string"}}}. indexes: [{"fields":["data.email"],"unique":true}] or "type":"text". migration: [{"op":"rename","field":"a","to":"b"}] in records too; default (value), cast, drop.',
  permission: 'manage',
  notInChangeSets: true,
  hints: { idempotent: true, destructive: true },
  input,
  run: async ({ base_id: base, stated: _, idempotency_key: __, dry_run: ___, also, ...args }, context) => {
    if (also != null && !(Array.isArray(also) && also.length === 0))
      return defineAll(base, [definitionOf(args), ...readAlso(also, one, definitionOf)], context)
    const kind = kindOf(args)
    const id = args[kind] ?? ''
    const { expected_version: version } = args
    const target = { base, id, ...(version !== undefined && { expectedVersions: [version] }) }
    const written = define(kind, target, args, context)
    const stored = await written.catch((thrown: unknown) => {
      throw withPaths(thrown, (path) => (path === '/id' ? `/${kind}` : path))
    })
    return definedBody(args, writtenBody(stored))
  },
})

/** Merges the fields into the definition, or creates it. */
async function define(name: KindName, target: TypeAddress, args: Args, context: Context): Promise<Written> {
  const kind = KINDS[name]
  const fields = fieldsIn(args, Object.keys(kind.body.shape))
  try {
    return (await kind.patch({ ...target, merge: fields, ...kind.repair(args) }, context)).written
  } catch (thrown) {
    // A migration, or a version, is of a type that exists: its id is wrong.
    if (!isAbsent(thrown, name) || target.expectedVersions || repairs(args)) throw thrown
    const body = check(kind.body, mergePatch({}, fields), inBody(), (known) => adviseBody(fields, known))
    const { base, id } = target
    return (await kind.put({ base, id, input: camelFields(body), mustBeAbsent: true }, context)).written
  }
}

/** The definition as an operation of a batch. */
function definitionOf(args: Args): Definition {
  const kind = kindOf(args)
  const id = args[kind] ?? ''
  const { migration, expected_version, on_invalid } = args
  const body = {
    ...fieldsIn(args, Object.keys(KINDS[kind].body.shape)),
    ...(migration !== undefined && { migration }),
    ...(expected_version !== undefined && { expected_version }),
  }
  const repair = { ...(on_invalid && { on_invalid }), ...(repairs(args) && { migrate: true }) }
  return { kind, id, operation: { type: `upsert_${kind}`, id, merge: true, body, ...repair } }
}

const fieldsIn = (args: Args, names: readonly string[]): Fields =>
  Object.fromEntries(
    Object.entries(args).filter(([name, value]) => names.includes(name) && value !== undefined),
  )

const isAbsent = (thrown: unknown, kind: KindName): boolean =>
  thrown instanceof DomainError && thrown.details.some(({ code }) => code === `${kind}_not_found`)

const repairs = ({ migrate, migration }: Args) => migrate || migration !== undefined

/** The kind that the arguments name, if all of them are of that kind. */
function kindOf(args: Args): KindName {
  const named = (['record_type', 'relationship_type'] as const).filter((name) => args[name] !== undefined)
  const [kind] = named
  if (!kind || named.length > 1)
    throw invalid({
      path: kind ? '/relationship_type' : '/record_type',
      code: kind ? 'exclusive' : 'required',
      message:
        'Send record_type or relationship_type: the id of what you define. also takes further definitions.',
    })
  const foreign = Object.keys(KINDS[kind].not).find((name) => args[name as keyof Args] !== undefined)
  if (foreign !== undefined)
    throw invalid({
      path: `/${foreign}`,
      code: 'unknown_key',
      message: `A ${kind.replace('_', ' ')} has no ${foreign}.`,
      allowed: Object.keys(KINDS[kind].body.shape),
    })
  if (repairs(args) && args.on_invalid)
    throw invalid({
      path: '/on_invalid',
      code: 'exclusive',
      message: 'on_invalid and migration exclude each other. Send one of them.',
    })
  return kind
}
