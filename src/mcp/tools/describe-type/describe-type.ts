/** The tool describe_type: schema, statistics, links and example calls of a record type. */
import { z } from 'zod'
import { SOURCE_OPERATIONS, type Source } from '../../../contract/source-shapes.ts'
import { isObject } from '../../../foundation/is-object.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import type { Context } from '../../../graphql/context.ts'
import { graphql, type ResultOf } from '../../../graphql/document.ts'
import { compile, staticOperation } from '../../../graphql/execute.ts'
import { ReadResult, typeUriIn } from '../../budget/read-result.ts'
import { reading, tool } from '../../tool/tool.ts'
import { type Linked, readyCalls } from './example-calls.ts'

/** The fields of a profile that the tool returns. */
const ToolProfile = graphql(`fragment ToolProfile on RecordTypeProfile {
  count sampled
  fields { field types null_share: nullShare distinct top { value count } min max }
  omitted: omittedFields relationships examples { description query }
}`)
type Profile = ResultOf<typeof ToolProfile>
type Shown = Omit<Profile, 'examples'> & Partial<Pick<Profile, 'examples'>>
type Field = Profile['fields'][number]

/** Compacts a REST profile: drops uninformative members and limits the number of fields. */
function sparing({ fields, omitted, ...profile }: Shown, most: number): object {
  const unshown = omitted + Math.max(0, fields.length - most)
  return {
    ...profile,
    fields: fields.slice(0, most).map(sparingField),
    ...(unshown > 0 && { omitted_fields: unshown }),
  }
}

/** Omits `top` if all its values occur once, and the range if `top` has all values. */
function sparingField({ field, types, null_share, distinct, top, min, max }: Field): object {
  const repeats = top.some(({ count }) => count > 1)
  const showsTop = top.length > 0 && (repeats || distinct <= top.length)
  const showsRange = !(showsTop && distinct <= top.length)
  return {
    field,
    types,
    ...(null_share && { null_share }),
    ...(distinct > 0 && { distinct }),
    ...(showsTop && { top }),
    ...(showsRange && min !== null && { min }),
    ...(showsRange && max !== null && { max }),
  }
}

/** Keywords of the outline of a schema, by the form of their values. */
const PLAIN = ['type', 'enum', 'const', 'format', 'default', 'required', '$ref', '$anchor', '$id'] as const
const ONE = ['items', 'additionalProperties', 'unevaluatedProperties'] as const
const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'] as const
const MAPS = ['properties', 'patternProperties', '$defs', 'definitions'] as const

/** Keeps names, types, formats, enums, defaults and required properties, and drops all other keywords. */
function briefSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(briefSchema)
  if (!isObject(schema)) return schema
  const kept = [
    ...PLAIN.map((name) => [name, schema[name]]),
    // Objects are open by default.
    ...ONE.map((name) => [name, schema[name] === true ? undefined : briefSchema(schema[name])]),
    ...LISTS.map((name) => [name, briefSchema(schema[name])]),
    ...MAPS.map((name) => [name, eachOf(schema[name])]),
  ]
  return Object.fromEntries(kept.filter(([, value]) => value !== undefined))
}

const eachOf = (map: unknown): unknown =>
  isObject(map)
    ? Object.fromEntries(Object.entries(map).map(([name, part]) => [name, briefSchema(part)]))
    : undefined

const describeBriefly = staticOperation(`query ToolDescribeBriefly($base: String!, $recordType: String!) {
  type: recordType(base: $base, id: $recordType) { id name description json_schema: jsonSchema version notes sources }
}`)
const inferSchema = staticOperation(`query ToolInferSchema($base: String!, $id: String!) {
  inferredSchema(base: $base, id: $id) { json_schema: jsonSchema count read omitted: omittedFields }
}`)
const describeType = staticOperation(
  `query ToolDescribeType($base: String!, $recordType: String!) {
    type: recordType(base: $base, id: $recordType) {
      id name description json_schema: jsonSchema indexes timezone version notes sources
    }
    profile: recordTypeProfile(base: $base, id: $recordType) { ...ToolProfile }
  }`,
  [ToolProfile],
)
const DescribeFully = graphql(
  `query ToolDescribeFully($base: String!, $recordType: String!, $limit: Int) {
      type: recordType(base: $base, id: $recordType) {
        id name description json_schema: jsonSchema indexes timezone version notes sources portableId
      }
      profile: recordTypeProfile(base: $base, id: $recordType) { ...ToolProfile data: exampleData }
      relationshipTypes(base: $base, limit: $limit) {
        data {
          id name description source_record_types: sourceRecordTypes target_record_types: targetRecordTypes
          cardinality on_delete: onDelete data_schema: dataSchema
        }
      }
    }`,
  [ToolProfile],
)
const describeFully = compile(DescribeFully)

type CallOptions = { base: string; recordType: string }
/** The called address and its tool restriction. */
type CallSite = { at: string; tools: readonly string[] | null }

const DETAILS = ['brief', 'standard', 'full', 'inferred'] as const

export const profileTool = tool('describe_type', {
  title: 'Describe type',
  description:
    "A type's schema, indexes, values, examples. full: example calls; inferred: a schema made from its records.",
  permission: 'read',
  showsRecords: true,
  input: z.strictObject({ record_type: z.string(), detail: z.enum(DETAILS).optional(), ...reading }),
  run: async ({ base_id, record_type, detail = 'standard' }, context, _caller, { at, tools = null }) => {
    const asked = { base: base_id, recordType: record_type }
    return new ReadResult(await BODIES[detail](asked, context, { at, tools }), {
      uriOf: typeUriIn(base_id),
    })
  },
})

const BODIES: Record<
  (typeof DETAILS)[number],
  (asked: CallOptions, context: Context, place: CallSite) => Promise<object>
> = {
  async brief(asked, context) {
    const { type } = await describeBriefly(asked, context)
    return { ...noted(type), json_schema: briefSchema(type.json_schema) }
  },
  async inferred({ base, recordType }, context) {
    const { inferredSchema } = await inferSchema({ base, id: recordType }, context)
    const { omitted, ...found } = inferredSchema
    return { id: recordType, ...found, ...(omitted > 0 && { omitted_fields: omitted }) }
  },
  async standard(asked, context) {
    const { type, profile } = await describeType(asked, context)
    return { ...noted(type), profile: sparing(profile, LIMITS.describedFields) }
  },
  async full(asked, context, { at, tools }) {
    const answer = await describeFully({ ...asked, limit: LIMITS.pageMax }, context)
    const { portableId, ...type } = answer.type
    const { data, examples, ...profile } = answer.profile
    const { relationshipTypes, links } = linksOf(profile.relationships, answer.relationshipTypes.data)
    const described = {
      ...asked,
      portableId,
      data,
      queries: examples,
      links,
      namesBase: at === '/mcp',
      tools,
    }
    return {
      ...noted(type),
      relationship_types: relationshipTypes,
      profile: sparing(profile, profile.fields.length),
      calls: await readyCalls(described, context),
    }
  },
}

/** Without the notes and sources, if there are none. Of a source, what a call can do. */
function noted<T extends { notes: readonly string[]; sources: unknown }>({ notes, sources, ...type }: T) {
  const listed = (sources as Source[]).map((source) => ({
    external_source: source.name,
    operations: SOURCE_OPERATIONS.filter((operation) => source[operation] !== undefined),
  }))
  return { ...type, ...(notes.length > 0 && { notes }), ...(listed.length > 0 && { sources: listed }) }
}

type Relationship = Omit<Linked, 'cardinality' | 'data_schema'>
type RelationshipType = ResultOf<typeof DescribeFully>['relationshipTypes']['data'][number]

/** The relationship types that can link records of the type, in each direction. */
function linksOf(relationships: unknown, all: readonly RelationshipType[]) {
  const types = new Map(all.map((type) => [type.id, type]))
  const links = (relationships as Relationship[]).flatMap((each): Linked[] => {
    const type = types.get(each.rel_type)
    return type ? [{ ...each, cardinality: type.cardinality, data_schema: type.data_schema }] : []
  })
  const named = new Set(links.map(({ rel_type }) => rel_type))
  return { links, relationshipTypes: all.filter(({ id }) => named.has(id)).map(sparingType) }
}

const sparingType = ({ description, data_schema, ...type }: RelationshipType): object => ({
  ...type,
  ...(description !== null && { description }),
  ...(Object.keys(Object(data_schema) as object).length > 0 && { data_schema }),
})
