/** The types of records of external sources, which are not stored here: they have no version, times and links. */
import {
  GraphQLBoolean,
  type GraphQLFieldConfigMap,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLString,
} from 'graphql'
import type { SourcePage, SourceRecord } from '../../engine/automation/sources/index.ts'
import type { Context } from '../context.ts'
import type { TypeView } from './base-view.ts'
import type { RecordNode } from './node.ts'
import { OWN_FIELDS, required } from './shared-types.ts'

/** A record of a source, where the fields of stored records look for one. */
export type SourceNode = { readonly record: SourceRecord }
export type SourceTypes = {
  readonly ofSource: GraphQLObjectType<SourceNode, Context>
  readonly sourcePage: GraphQLObjectType<SourcePage, Context>
}

/** Those with sources have the properties of the object. Their fields are made when they are asked for. */
export function sourceTypesOf(
  { name, properties }: TypeView,
  object: GraphQLObjectType<RecordNode, Context>,
): SourceTypes {
  const { _type, _data } = OWN_FIELDS
  const ofSource = new GraphQLObjectType<SourceNode, Context>({
    name: `${name}_SourceRecord`,
    description:
      'A record of an external source, which is not stored here. Its key is _externalSource with _externalId.',
    fields: () => {
      const own = {
        _type,
        _externalId: {
          type: GraphQLString,
          description: 'Its id in the source. Null in a dry run that would create it.',
          resolve: ({ record }: SourceNode) => record.externalId,
        },
        _externalSource: {
          type: required(GraphQLString),
          resolve: ({ record }: SourceNode) => record.externalSource,
        },
        _data: { ..._data, description: 'All properties as the mapping of the source makes them.' },
      }
      const all = object.toConfig().fields
      const shown = properties.map(({ field }) => [field, all[field]])
      return { ...own, ...Object.fromEntries(shown) } as GraphQLFieldConfigMap<SourceNode, Context>
    },
  })
  const sourcePage = new GraphQLObjectType<SourcePage, Context>({
    name: `${name}_SourcePage`,
    fields: () => ({
      nodes: {
        type: new GraphQLNonNull(new GraphQLList(required(ofSource))),
        resolve: ({ data }) => data.map((record): SourceNode => ({ record })),
      },
      hasMore: {
        type: GraphQLBoolean,
        description: 'Null if the source does not say: read on until a page is empty.',
      },
      totalCount: {
        type: GraphQLInt,
        description: 'All records of the source. Null if it does not say.',
        resolve: ({ total }) => total,
      },
    }),
  })
  return { ofSource, sourcePage }
}
