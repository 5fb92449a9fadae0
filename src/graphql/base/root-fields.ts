/** The root fields of a record type. Each reads its page, then what is linked with it. */
import {
  type GraphQLFieldConfig,
  type GraphQLFieldConfigMap,
  GraphQLID,
  GraphQLNonNull,
  type GraphQLResolveInfo,
  GraphQLString,
} from 'graphql'
import * as records from '../../engine/records/index.ts'
import { DomainError, invalid } from '../../foundation/errors.ts'
import type { Context } from '../context.ts'
import { aggregateField } from './aggregate-fields.ts'
import { namingArguments, readFirst } from './arguments.ts'
import type { BaseView, Read, TypeView } from './base-view.ts'
import type { Connection, RecordNode } from './node.ts'
import { asksData, asksLinked, readLinked } from './read-linked.ts'
import { below, ofPage, type Sets } from './selection.ts'
import { DateTimeScalar } from './shared-types.ts'
import { inSort, toSort } from './sort.ts'
import { toFilter } from './to-filter.ts'
import { pageArgs, type TypeSets } from './type-set.ts'

type Root = GraphQLFieldConfig<unknown, Context>

/** The names of the root fields of a type, by what they read. */
export const rootNames = ({ root }: TypeView): Readonly<Record<Read, string>> => ({
  get: root,
  list: `${root}Records`,
  aggregate: `${root}Aggregate`,
})

const AS_OF = { type: DateTimeScalar, description: 'Reads the state at this time.' }

export function rootFields(
  seen: BaseView,
  type: TypeView,
  families: TypeSets,
): GraphQLFieldConfigMap<unknown, Context> {
  const family = families.of(type)
  const { object, connection } = family
  const names = rootNames(type)
  const one: Root = {
    type: object,
    description: `A record of type ${JSON.stringify(type.id)}, by its id or its external pair. Null if there is none.`,
    args: {
      id: { type: GraphQLID },
      externalId: { type: GraphQLString },
      externalSource: { type: GraphQLString, description: 'Defaults to "default".' },
      asOf: AS_OF,
    },
    resolve: (_root, args, context, info) => namingArguments(readOne(seen, type, args, context, info)),
  }
  const list: Root = {
    type: new GraphQLNonNull(connection),
    description: `The records of type ${JSON.stringify(type.id)} that match, newest first unless sorted.`,
    args: { ...pageArgs(family), asOf: AS_OF },
    resolve: (_root, args, context, info) => namingArguments(readList(seen, type, args, context, info)),
  }
  const { reads } = type
  return {
    ...(reads.has('get') && { [names.get]: one }),
    ...(reads.has('list') && { [names.list]: list }),
    ...(reads.has('aggregate') && { [names.aggregate]: aggregateField(seen, type, family) }),
  }
}

type OneArgs = {
  id?: string | null
  externalId?: string | null
  externalSource?: string | null
  asOf?: string | null
}

async function readOne(
  seen: BaseView,
  type: TypeView,
  args: OneArgs,
  context: Context,
  info: GraphQLResolveInfo,
): Promise<RecordNode | null> {
  const sets = below(info.fieldNodes)
  checkMoment(args.asOf, info, type, sets)
  const record = await findOne(seen, type, args, context)
  if (!record) return null
  const node: RecordNode = { type, record, linked: new Map() }
  await readLinked(context, info, seen, { nodes: [node], sets })
  return node
}

async function findOne(
  { base }: BaseView,
  type: TypeView,
  { id, externalId, externalSource, asOf }: OneArgs,
  { scope }: Context,
): Promise<records.RecordItem | undefined> {
  if ((id == null) === (externalId == null) || (id != null && externalSource != null))
    throw invalid({
      path: '/id',
      code: 'exclusive',
      message: 'Send either id, or externalId with its externalSource.',
    })
  if (id != null)
    return records.getRecord(scope, base, type.id, id, { asOf: asOf ?? null }).catch(noneIfAbsent)
  const filter = {
    and: [
      { field: 'external_id', op: 'eq', value: externalId },
      { field: 'external_source', op: 'eq', value: externalSource ?? 'default' },
    ],
  }
  const page = await records.listRecords(scope, base, type.id, { filter, limit: 1, asOf })
  return page.data()[0]
}

export function noneIfAbsent(thrown: unknown): undefined {
  if (!(thrown instanceof DomainError) || thrown.code !== 'NOT_FOUND') throw thrown
}

type ListArgs = {
  where?: object | null
  filter?: unknown
  sort?: readonly object[] | null
  first?: number | null
  after?: string | null
  asOf?: string | null
}

async function readList(
  seen: BaseView,
  type: TypeView,
  args: ListArgs,
  context: Context,
  info: GraphQLResolveInfo,
): Promise<Connection> {
  const { sets, total } = ofPage(info, type.name, below(info.fieldNodes))
  checkMoment(args.asOf, info, type, sets)
  const { filter, explained } = toFilter(args.where, args.filter, type)
  const reading = records.listRecords(context.scope, seen.base, type.id, {
    filter,
    sort: toSort(args.sort, type),
    limit: readFirst(args.first),
    cursor: args.after,
    asOf: args.asOf,
    includeTotal: total,
    // Without properties, the data of the records is not read.
    ...(!asksData(info, type, sets) && { fields: ['id'] }),
  })
  const page = await reading.catch((thrown) => {
    throw inSort(explained(thrown), args.sort)
  })
  const nodes = page.data().map((record): RecordNode => ({ type, record, linked: new Map() }))
  await readLinked(context, info, seen, { nodes, sets })
  return {
    nodes,
    hasMore: page.hasMore,
    hasPrevious: args.after != null,
    total: page.total,
    cursorAfter: (index) => page.cursors?.after(index) ?? '',
  }
}

/** @throws VALIDATION_ERROR for relationships at an earlier time */
function checkMoment(
  asOf: string | null | undefined,
  info: GraphQLResolveInfo,
  type: TypeView,
  sets: Sets,
): void {
  if (asOf == null || !asksLinked(info, type, sets)) return
  throw invalid({
    path: '/asOf',
    code: 'exclusive',
    message:
      'Relationships are read in their current state only. Leave out asOf, or the fields of relationships.',
  })
}
