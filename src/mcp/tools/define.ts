/** The tool define: creates and changes record types, relationship types and indexes. */
import { z } from 'zod'
import { camelFields } from '../../contract/field-names.ts'
import { writtenBody } from '../../contract/response-bodies.ts'
import { RecordTypeBody, RelationshipTypeBody } from '../../contract/shapes.ts'
import { check, inBody } from '../../contract/validate.ts'
import { adviseBody } from '../../dialects/parameters.ts'
import { DomainError, invalid, withPaths } from '../../foundation/errors.ts'
import type { Context } from '../../graphql/context.ts'
import { graphql } from '../../graphql/document.ts'
import { compile } from '../../graphql/execute.ts'
import { mergePatch } from '../../json/merge-patch.ts'
import { answerOutput } from '../tool/page-arguments.ts'
import { tool, writing } from '../tool/tool.ts'
import { type Definition, defineAll, readAlso } from './define-all.ts'
import { definedBody } from './defined-body.ts'

const DefinedType = graphql(`fragment DefinedType on RecordType {
  id name description icon color json_schema: jsonSchema indexes timezone sources display version
  operation warnings records_rewritten: recordsRewritten dry_run: dryRun
}`)
const patchType = compile(
  graphql(
    `mutation DefinePatchType($base: String!, $id: String!, $merge: JSON!, $onInvalid: OnInvalid, $migration: JSON, $expectedVersions: [Int!]) {
      done: patchRecordType(base: $base, id: $id, merge: $merge, onInvalid: $onInvalid, migration: $migration, expectedVersions: $expectedVersions) { ...DefinedType }
    }`,
    [DefinedType],
  ),
)
const createType = compile(
  graphql(
    `mutation DefinePutType($base: String!, $id: String!, $input: RecordTypeInput!) {
      done: putRecordType(base: $base, id: $id, input: $input, mustBeAbsent: true) { ...DefinedType }
    }`,
    [DefinedType],
  ),
)
const DefinedLinkType = graphql(`fragment DefinedLinkType on RelationshipType {
  id name description data_schema: dataSchema source_record_types: sourceRecordTypes target_record_types: targetRecordTypes
  cardinality on_delete: onDelete version operation warnings dry_run: dryRun
}`)
const patchLinkType = compile(
  graphql(
    `mutation DefinePatchLinkType($base: String!, $id: String!, $merge: JSON!, $allowInvalid: Boolean, $expectedVersions: [Int!]) {
      done: patchRelationshipType(base: $base, id: $id, merge: $merge, allowInvalid: $allowInvalid, expectedVersions: $expectedVersions) { ...DefinedLinkType }
    }`,
    [DefinedLinkType],
  ),
)
const createLinkType = compile(
  graphql(
    `mutation DefinePutLinkType($base: String!, $id: String!, $input: RelationshipTypeInput!) {
      done: putRelationshipType(base: $base, id: $id, input: $input, mustBeAbsent: true) { ...DefinedLinkType }
    }`,
    [DefinedLinkType],
  ),
)

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
  cardinality: field('string'),
  on_delete: field('string'),
  data_schema: field('object'),
}

const one = z.strictObject({
  record_type: z.string().optional(),
  relationship_type: z.string().optional(),
  ...ofBoth,
  ...ofRecordType,
  ...ofRelationshipType,
  on_invalid: z.enum(['allow']).optional(),
  migrate: z.boolean().optional().meta({ listed: false }),
  expected_version: z.int32().min(1).optional().meta({ listed: false }),
})
const input = z.strictObject({ ...one.shape, also: field('objects'), ...writing })
type Args = z.output<typeof one>
type TypeAddress = { base: string; id: string; expectedVersions?: number[] }
type Fields = Record<string, unknown>
type Written = Parameters<typeof writtenBody>[0]

const KINDS = {
  record_type: {
    body: RecordTypeBody,
    not: ofRelationshipType,
    patch: async (target: TypeAddress, merge: Fields, args: Args, context: Context): Promise<Written> => {
      const onInvalid = repairs(args) ? ('migrate' as const) : (args.on_invalid ?? 'refuse')
      return (await patchType({ ...target, merge, onInvalid, migration: args.migration }, context)).done
    },
    create: async ({ base, id }: TypeAddress, body: Fields, context: Context): Promise<Written> =>
      (await createType({ base, id, input: camelFields(body) }, context)).done,
  },
  relationship_type: {
    body: RelationshipTypeBody,
    not: ofRecordType,
    patch: async (target: TypeAddress, merge: Fields, args: Args, context: Context): Promise<Written> => {
      const allowInvalid = args.on_invalid === 'allow'
      return (await patchLinkType({ ...target, merge, allowInvalid }, context)).done
    },
    create: async ({ base, id }: TypeAddress, body: Fields, context: Context): Promise<Written> =>
      (await createLinkType({ base, id, input: camelFields(body) }, context)).done,
  },
} as const
type KindName = keyof typeof KINDS

export const defineTools = [
  tool('define', {
    title: 'Define types',
    description:
      'Create or change a type by id; also: more definitions, all or none. Fields merge: null removes, lists are replaced. json_schema: {"properties":{"email":{"type":"string"}}}. indexes: [{"fields":["data.email"],"unique":true}] or "type":"text". migration: [{"op":"rename","field":"a","to":"b"}] in schema and records; default (value), cast, drop.',
    permission: 'manage',
    hints: { idempotent: true, destructive: true },
    input,
    output: answerOutput,
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
  }),
]

/** Merges the fields into the definition, or creates it. */
async function define(name: KindName, target: TypeAddress, args: Args, context: Context): Promise<Written> {
  const kind = KINDS[name]
  const fields = fieldsIn(args, Object.keys(kind.body.shape))
  try {
    return await kind.patch(target, fields, args, context)
  } catch (thrown) {
    // A migration, or a version, is of a type that exists: its id is wrong.
    if (!isAbsent(thrown, name) || target.expectedVersions || repairs(args)) throw thrown
    const body = check(kind.body, mergePatch({}, fields), inBody(), (known) => adviseBody(fields, known))
    return kind.create(target, body, context)
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
