/** The root fields that read external sources of a record type. Each is one request to another system. */
import {
  type GraphQLFieldConfigArgumentMap,
  type GraphQLFieldConfigMap,
  GraphQLID,
  GraphQLInt,
  GraphQLNonNull,
  GraphQLString,
} from 'graphql'
import { getSourceRecord, listSourceRecords, type SourcePage } from '../../engine/automation/sources/index.ts'
import { LIMITS } from '../../foundation/limits.ts'
import type { Context } from '../context.ts'
import { namingArguments, readFirst } from './arguments.ts'
import type { BaseView, TypeView } from './base-view.ts'
import { sourceNames } from './names.ts'
import { noneIfAbsent } from './root-fields.ts'
import type { SourceNode } from './source-types.ts'
import type { TypeSets } from './type-set.ts'

type Ask = { externalSource: string }
type PageArgs = Ask & { first?: number | null; offset?: number | null }

export function sourceFields(
  { base }: BaseView,
  type: TypeView,
  families: TypeSets,
): GraphQLFieldConfigMap<unknown, Context> {
  if (type.sources.length === 0) return {}
  const { ofSource, sourcePage } = families.of(type)
  const from: GraphQLFieldConfigArgumentMap = {
    externalSource: {
      type: new GraphQLNonNull(GraphQLString),
      description: 'The name of a source of the record type.',
    },
  }
  const extensions = { cost: LIMITS.typedSourceCost }
  const one = {
    type: ofSource,
    description: `A record of an external source of type ${JSON.stringify(type.id)}. Null if the source has none.`,
    args: { ...from, id: { type: new GraphQLNonNull(GraphQLID), description: 'Its id in the source.' } },
    extensions,
    resolve: (_root: unknown, { externalSource, id }: Ask & { id: string }, { scope }: Context) =>
      namingArguments(
        getSourceRecord(scope, base, type.id, externalSource, id)
          .then((record): SourceNode => ({ record }))
          .catch(noneIfAbsent),
      ),
  }
  const list = {
    type: new GraphQLNonNull(sourcePage),
    description: `A page of an external source of type ${JSON.stringify(type.id)}, which decides what it has, in which order.`,
    args: {
      ...from,
      first: {
        type: GraphQLInt,
        defaultValue: LIMITS.pageDefault,
        description: `Records of the page, 1 to ${LIMITS.pageMax}.`,
      },
      offset: { type: GraphQLInt, defaultValue: 0, description: 'Records before the page.' },
    },
    extensions,
    resolve: (_root: unknown, args: PageArgs, { scope }: Context) =>
      namingArguments(readPage(scope, base, type.id, args)),
  }
  const names = sourceNames(type)
  return {
    ...(type.reads.has('get') && { [names.get]: one }),
    ...(type.reads.has('list') && { [names.list]: list }),
  } as GraphQLFieldConfigMap<unknown, Context>
}

const readPage = async (
  scope: Context['scope'],
  base: string,
  type: string,
  { externalSource, first, offset }: PageArgs,
): Promise<SourcePage> =>
  listSourceRecords(scope, base, type, externalSource, {
    limit: readFirst(first, LIMITS.pageDefault, 'offset'),
    offset,
    totalIfKnown: true,
  })
