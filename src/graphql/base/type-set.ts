/** The types of one record type: its object, its page, its sort, and the types within it. */
import {
  GraphQLEnumType,
  type GraphQLFieldConfigArgumentMap,
  type GraphQLFieldConfigMap,
  GraphQLID,
  GraphQLInputObjectType,
  GraphQLInt,
  type GraphQLInterfaceType,
  GraphQLList,
  type GraphQLNamedType,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLString,
} from 'graphql'
import { fieldName } from '../../engine/schema/compiled-types/field-path.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { clean } from '../../schema-shape/descriptions.ts'
import type { Context } from '../context.ts'
import { type AggregateTypes, aggregateTypes } from './aggregate-types.ts'
import { ATTACHMENTS, type ClaimedRecord, claimedOf } from './attachment-types.ts'
import type { LinkView, TypeView } from './base-view.ts'
import { changeTypeOf, type Event } from './change-types.ts'
import { inputsOf } from './input-types.ts'
import { hasLinks, linksInputOf } from './link-inputs.ts'
import { nestedName } from './names.ts'
import type { Connection, RecordNode } from './node.ts'
import { type Payload, payloadOf } from './payload-type.ts'
import { historyField } from './read-history.ts'
import { AnyRecord, Direction, JsonScalar, OWN_FIELDS, PageInfo, required } from './shared-types.ts'
import { type SourceTypes, sourceTypesOf } from './source-types.ts'
import { describe, type Nest, readProperty, scalarOf, typedOf } from './values.ts'
import { whereOf } from './where-types.ts'

/** A page of records of one type, or of any. */
export type PageTypes = {
  readonly object: GraphQLObjectType | GraphQLInterfaceType
  readonly connection: GraphQLObjectType<Connection>
  readonly edge: GraphQLObjectType
}
export type TypeSet = PageTypes & {
  readonly object: GraphQLObjectType<RecordNode, Context>
  readonly sort: GraphQLInputObjectType
  readonly where: GraphQLInputObjectType
  /** Of lists of linked records. */
  readonly many: GraphQLInputObjectType
  readonly aggregate: AggregateTypes
  /** An event of the subscription. */
  readonly change: GraphQLObjectType<Event, Context>
  readonly ofSource: SourceTypes['ofSource']
  readonly sourcePage: SourceTypes['sourcePage']
  /** Of mutations. */
  readonly input: GraphQLInputObjectType
  readonly patch: GraphQLInputObjectType
  readonly payload: GraphQLObjectType<Payload, Context>
  readonly claimed: GraphQLObjectType<ClaimedRecord, Context>
  /** Links to write; null if there are none. */
  readonly linksInput: GraphQLInputObjectType | null
  /** Every type of the family, by name. */
  all(): ReadonlyMap<string, GraphQLNamedType>
}

/** Where a family finds the types of others. */
export type TypeSets = {
  of(type: TypeView): Omit<TypeSet, 'all' | 'edge'>
  /** Called with the number of fields that were built. */
  built(fields: number): void
}

/** Makes families whose types have their names alone, each made once. `standIn` makes one, given families that have no types. */
export function namedTypeSets(
  standIn: (type: TypeView, none: TypeSets) => ReturnType<TypeSets['of']>,
): TypeSets {
  const made = new Map<string, ReturnType<TypeSets['of']>>()
  return {
    of: (type) => {
      const known = made.get(type.id) ?? standIn(type, NO_FAMILIES)
      made.set(type.id, known)
      return known
    },
    built: () => {},
  }
}

const NO_FAMILIES: TypeSets = {
  of: () => {
    throw new Error('A type that is known by its name has no fields')
  },
  built: () => {},
}

const WORDS = 600

/** The types are made when their fields are asked for. */
export function typeSetOf(type: TypeView, families: TypeSets): TypeSet {
  const nested = new Map<string, GraphQLEnumType | GraphQLObjectType>()
  const inputs = new Map<string, GraphQLInputObjectType>()
  const nest: Nest = (made) => {
    families.built(Object.keys('getFields' in made ? made.getFields() : made.getValues()).length)
    nested.set(made.name, made)
  }
  const { name, description } = type
  const object = new GraphQLObjectType<RecordNode, Context>({
    name,
    description: description ? clean(description, WORDS) : null,
    interfaces: [AnyRecord],
    fields: () => {
      const fields = {
        ...OWN_FIELDS,
        ...(type.history && { _history: historyField(type.history) }),
        ...(type.attachments && { _attachments: ATTACHMENTS }),
        ...propertyFieldsOf(type, nest),
        ...linkFieldsOf(type, families),
      }
      families.built(Object.keys(fields).length)
      return fields
    },
  })
  const page = pageTypes(name, object)
  const sort = new GraphQLInputObjectType({
    name: `${name}_Sort`,
    isOneOf: true,
    description: 'A field to sort by. Missing values come last.',
    fields: () => Object.fromEntries(sortFields(type).map(({ field }) => [field, { type: Direction }])),
  })
  const within = {
    enumOf: (of: string) => {
      // The enums are those of the object.
      object.getFields()
      const found = nested.get(of)
      return found instanceof GraphQLEnumType ? found : undefined
    },
    nest: (made: GraphQLInputObjectType) => {
      families.built(Object.keys(made.getFields()).length)
      inputs.set(made.name, made)
    },
  }
  const { where, many } = whereOf(type, within, families.of)
  const { input, patch } = inputsOf(type, within)
  const source = sourceTypesOf(type, object)
  const payload = payloadOf(type, object, source.ofSource)
  const claimed = claimedOf(type, object)
  const linksInput = type.writable && hasLinks(type) ? linksInputOf(type) : null
  const aggregate = aggregateTypes(type, object)
  const change = changeTypeOf(type, object)
  const ofMutations = type.writable
    ? [input, patch, payload, claimed, ...(linksInput ? [linksInput] : [])]
    : []
  return {
    ...page,
    ...source,
    ...{ object, sort, where, many, aggregate, change, input, patch, payload, claimed, linksInput },
    all: () => {
      object.getFields()
      where.getFields()
      const ofLinks = type.links.size > 0 ? [many] : []
      for (const each of ofMutations) each.getFields()
      for (const each of nested.values()) if (each instanceof GraphQLObjectType) each.getFields()
      const own = [
        ...[
          object,
          page.connection,
          page.edge,
          sort,
          where,
          ...ofLinks,
          ...aggregate.all(),
          ...(type.changes ? [change] : []),
          ...(type.sources.length > 0 ? [source.ofSource, source.sourcePage] : []),
          ...ofMutations,
        ],
        ...[...nested.values(), ...inputs.values()],
      ]
      return new Map(own.map((each) => [each.name, each]))
    },
  }
}

/** The types of a page of records. */
export function pageTypes(name: string, object: PageTypes['object']): PageTypes {
  type Edge = { node: RecordNode; cursor: () => string }
  const edge = new GraphQLObjectType<Edge>({
    name: `${name}Edge`,
    fields: () => ({
      cursor: { type: required(GraphQLString), resolve: ({ cursor }) => cursor() },
      node: { type: required(object), resolve: ({ node }) => node },
      _linkId: {
        type: GraphQLID,
        description: 'The id of the relationship, in a list of related records.',
        resolve: ({ node }) => node.link?.id,
      },
      _linkData: {
        type: JsonScalar,
        description: 'The data of the relationship, in a list of related records.',
        resolve: ({ node }) => node.link?.data,
      },
    }),
  })
  const connection = new GraphQLObjectType<Connection>({
    name: `${name}Connection`,
    fields: () => ({
      edges: {
        type: new GraphQLNonNull(new GraphQLList(required(edge))),
        resolve: ({ nodes, cursorAfter }) =>
          nodes.map((node, index): Edge => ({ node, cursor: () => cursorAfter(index) })),
      },
      nodes: {
        type: new GraphQLNonNull(new GraphQLList(required(object))),
        resolve: ({ nodes }) => nodes,
      },
      pageInfo: { type: required(PageInfo), resolve: (page) => page },
      totalCount: {
        type: required(GraphQLInt),
        description: 'The number of all that match. It costs a count.',
        resolve: ({ total }) => total,
      },
    }),
  })
  return { object, connection, edge }
}

function propertyFieldsOf(
  { name: of, properties }: TypeView,
  nest: Nest,
): GraphQLFieldConfigMap<RecordNode, Context> {
  const fields: GraphQLFieldConfigMap<RecordNode, Context> = {}
  for (const { name, field, shape } of properties) {
    const { type, read } = typedOf(shape, nestedName(of, field), nest)
    fields[field] = {
      type,
      description: describe(shape, name, field),
      resolve: ({ record: { data } }) => readProperty(data as Record<string, unknown>, name, read),
    }
  }
  return fields
}

function linkFieldsOf({ links }: TypeView, families: TypeSets): GraphQLFieldConfigMap<RecordNode, Context> {
  return Object.fromEntries(
    [...links.values()].map((link) => {
      const { object, connection } = link.far ? families.of(link.far) : ANY_PAGE
      const description = `Relationship type ${JSON.stringify(link.relType)}${link.incoming ? ', from its other side' : ''}.`
      // Look-ahead has read what this field shows.
      if (link.isOne)
        return [
          link.field,
          {
            type: object,
            description,
            resolve: ({ linked }, _args, _context, { path }) => linked.get(String(path.key))?.nodes[0],
          },
        ]
      return [
        link.field,
        {
          type: required(connection),
          description,
          args: linkArgs(link, families),
          resolve: ({ linked }, _args, _context, { path }) => linked.get(String(path.key)),
        },
      ]
    }),
  ) as GraphQLFieldConfigMap<RecordNode, Context>
}

export const ANY_PAGE = pageTypes('_Record', AnyRecord)

const FILTER = 'In the filter language of REST: {"field": "data.amount", "op": "gte", "value": 100}.'

/** Arguments of a page. */
export const pageArgs = (
  of: Pick<TypeSet, 'sort' | 'where'> | null,
  first: number = LIMITS.pageDefault,
): GraphQLFieldConfigArgumentMap => ({
  ...(of && { where: { type: of.where } }),
  filter: { type: JsonScalar, description: FILTER },
  ...(of && { sort: { type: new GraphQLList(required(of.sort)) } }),
  first: {
    type: GraphQLInt,
    defaultValue: first,
    description: `Records of the page, 1 to ${LIMITS.pageMax}.`,
  },
  after: { type: GraphQLString, description: 'The cursor after which the page starts.' },
})

const linkArgs = ({ far }: LinkView, families: TypeSets): GraphQLFieldConfigArgumentMap =>
  pageArgs(far ? families.of(far) : null, LIMITS.relatedDefault)

/** Fields that records are sorted by, as the filter language names them. */
const OWN_SORTS = [
  { field: 'id', name: 'id' },
  { field: '_createdAt', name: 'created_at' },
  { field: '_updatedAt', name: 'updated_at' },
  { field: '_version', name: 'version' },
  { field: '_status', name: 'status' },
  { field: '_externalId', name: 'external_id' },
  { field: '_externalSource', name: 'external_source' },
  { field: '_searchScore', name: '_search_score' },
] as const

export function sortFields({ properties }: TypeView): { field: string; name: string }[] {
  const leaves = properties.filter(({ shape }) => scalarOf(shape))
  return [...OWN_SORTS, ...leaves.map(({ field, name }) => ({ field, name: fieldName([name]) }))]
}
