/** The types that the schemas of all bases have in common. */
import {
  GraphQLBoolean,
  GraphQLEnumType,
  GraphQLError,
  type GraphQLFieldConfigMap,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  GraphQLInterfaceType,
  type GraphQLNamedType,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLString,
} from 'graphql'
import type { Context } from '../context.ts'
import { schema } from '../schema.ts'
import type { Connection, RecordNode } from './node.ts'

export const JsonScalar = schema.getType('JSON') as GraphQLScalarType
export const DateTimeScalar = schema.getType('DateTime') as GraphQLScalarType
const isDay = (text: string) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))

export const DateScalar = new GraphQLScalarType<string, string>({
  name: 'Date',
  specifiedByURL: 'https://scalars.graphql.org/andimarek/local-date.html',
  description: 'A day: 2026-01-31.',
  serialize: (value) => value as string,
  parseValue: (value) => {
    if (typeof value !== 'string' || !isDay(value))
      throw new GraphQLError('A Date must be a day such as 2026-01-31.')
    return value
  },
})

export const Status = new GraphQLEnumType({ name: '_Status', values: { active: {}, cancelled: {} } })
export const Direction = new GraphQLEnumType({
  name: '_Direction',
  values: { ASC: { value: 'asc' }, DESC: { value: 'desc' } },
})

export const required = <T extends GraphQLNamedType>(type: T) => new GraphQLNonNull(type)

/** Fields that every record has. No property has these names. */
export const OWN_FIELDS: GraphQLFieldConfigMap<RecordNode, Context> = {
  id: { type: required(GraphQLID), resolve: ({ record }) => record.id },
  _type: {
    type: required(GraphQLString),
    description: 'The id of the record type.',
    resolve: ({ record }) => record.recordType,
  },
  _version: { type: required(GraphQLInt), resolve: ({ record }) => record.version },
  _status: { type: required(Status), resolve: ({ record }) => record.status },
  _valid: {
    type: required(GraphQLBoolean),
    description: 'False if the record violates a schema that was changed later.',
    resolve: ({ record }) => record.valid !== false,
  },
  _createdAt: { type: required(DateTimeScalar), resolve: ({ record }) => record.createdAt },
  _updatedAt: { type: required(DateTimeScalar), resolve: ({ record }) => record.updatedAt },
  _cancelledAt: { type: DateTimeScalar, resolve: ({ record }) => record.cancelledAt },
  _externalId: { type: GraphQLString, resolve: ({ record }) => record.externalId },
  _externalSource: { type: GraphQLString, resolve: ({ record }) => record.externalSource },
  _searchScore: {
    type: GraphQLFloat,
    description: 'Relevance to the `search` of the filter; higher is better.',
    resolve: ({ record }) => record.searchScore,
  },
  _data: {
    type: required(JsonScalar),
    description: 'All properties as they are stored, those of another kind included.',
    resolve: ({ record }) => record.data,
  },
}

export const PageInfo = new GraphQLObjectType<Connection>({
  name: 'PageInfo',
  fields: {
    hasNextPage: { type: required(GraphQLBoolean), resolve: ({ hasMore }) => hasMore },
    hasPreviousPage: { type: required(GraphQLBoolean), resolve: ({ hasPrevious }) => hasPrevious },
    startCursor: {
      type: GraphQLString,
      resolve: ({ nodes, cursorAfter }) => (nodes.length > 0 ? cursorAfter(0) : null),
    },
    endCursor: {
      type: GraphQLString,
      resolve: ({ nodes, cursorAfter }) => (nodes.length > 0 ? cursorAfter(nodes.length - 1) : null),
    },
  },
})

/** Any record, for relationships that lead to several types. */
export const AnyRecord = new GraphQLInterfaceType({
  name: '_Record',
  description: 'A record of any type.',
  fields: OWN_FIELDS as GraphQLFieldConfigMap<unknown, unknown>,
  resolveType: (node: RecordNode) => node.type.name,
})
