/** Reads the linked records that a query asks for: level by level, all lists of a level in one statement. */
import { type FieldNode, type GraphQLResolveInfo, getArgumentValues } from 'graphql'
import {
  type RelatedAsk,
  type RelatedList,
  relatedPages,
} from '../../engine/records/related/related-pages.ts'
import { LIMITS } from '../../foundation/limits.ts'
import type { Context } from '../context.ts'
import { inArguments, readFirst } from './arguments.ts'
import { readAttachments } from './attachment-types.ts'
import type { BaseView, LinkView, TypeView } from './base-view.ts'
import type { Connection, RecordNode } from './node.ts'
import { readHistory } from './read-history.ts'
import { below, fieldsOf, ofPage, type Sets } from './selection.ts'
import { inSort, toSort } from './sort.ts'
import { toFilter } from './to-filter.ts'

/** Records, and what is selected of them. */
export type Selected = { nodes: readonly RecordNode[]; sets: Sets }

/** A list that a query asks for, and the records that it is read for. Equal records share it. */
type Asked = {
  ask: RelatedAsk
  explained: (thrown: unknown) => unknown
  parents: RecordNode[][]
  key: string
  sets: Sets
}

export async function readLinked(
  context: Context,
  info: GraphQLResolveInfo,
  seen: BaseView,
  start: Selected,
): Promise<void> {
  let level: readonly Selected[] = [start]
  while (level.length > 0) {
    for (const selected of level) {
      await readHistory(context, info, seen.base, selected)
      await readAttachments(context, info, seen.base, selected)
    }
    const asked = level.flatMap((selected) => asksOf(info, selected))
    if (asked.length === 0) return
    const lists = await relatedPages(
      context.scope,
      seen.base,
      asked.map(({ ask }) => ask),
      (n, thrown) => inArguments(asked[n]?.explained(thrown) ?? thrown, asked[n]?.key ?? ''),
    )
    level = asked.map((each, n) => fill(seen, each, lists[n] ?? []))
  }
}

/** Whether any linked record is selected. */
export const asksLinked = (info: GraphQLResolveInfo, type: TypeView, sets: Sets): boolean =>
  linksOf(info, type, sets).length > 0

function linksOf(info: GraphQLResolveInfo, type: TypeView, sets: Sets) {
  return [...fieldsOf(info, [type.name, '_Record'], sets)].flatMap(([key, fields]) => {
    const link = type.links.get(fields[0]?.name.value ?? '')
    return link && fields[0] ? [{ key, fields, first: fields[0], link }] : []
  })
}

/** Whether the properties of records of the type are selected. */
export const asksData = (info: GraphQLResolveInfo, type: TypeView | null, sets: Sets): boolean =>
  type === null ||
  [...fieldsOf(info, [type.name, '_Record'], sets).values()].some(([field]) => {
    const name = field?.name.value ?? ''
    return name === '_data' || !(name === 'id' || name.startsWith('_') || type.links.has(name))
  })

function asksOf(info: GraphQLResolveInfo, { nodes, sets }: Selected): Asked[] {
  return [...Map.groupBy(nodes, ({ type }) => type)].flatMap(([type, ofType]) => {
    const parents = [...Map.groupBy(ofType, ({ record }) => record.id).values()]
    const keys = parents.map(([node]) => ({ recordType: type.id, id: node?.record.id ?? '' }))
    return linksOf(info, type, sets).map(({ key, fields, first, link }): Asked => {
      const page = link.isOne
        ? { sets: below(fields), total: false }
        : ofPage(info, link.far?.name ?? '_Record', below(fields))
      const { args, explained } = link.isOne ? ONE : argsOf(info, type, link, first, key)
      return {
        ask: {
          relType: link.relType,
          incoming: link.incoming,
          parents: keys,
          farType: link.far?.id ?? null,
          ...args,
          includeTotal: page.total,
          withData: asksData(info, link.far, page.sets),
        },
        explained,
        parents,
        key,
        sets: page.sets,
      }
    })
  })
}

type PageArgs = {
  where?: object | null
  filter?: unknown
  sort?: readonly object[] | null
  first?: number | null
  after?: string | null
}

type ListArgs = {
  args: Pick<RelatedAsk, 'filter' | 'sort' | 'first' | 'after'>
  explained: (thrown: unknown) => unknown
}
/** Of a field that shows one record. */
const ONE: ListArgs = { args: { first: 1 }, explained: (thrown) => thrown }

function argsOf(
  info: GraphQLResolveInfo,
  { name }: TypeView,
  link: LinkView,
  field: FieldNode,
  key: string,
): ListArgs {
  const owner = info.schema.getType(name)
  const definition = owner && 'getFields' in owner ? owner.getFields()[link.field] : undefined
  if (!definition || !('args' in definition)) throw new Error(`${name} has no field ${link.field}`)
  const args = getArgumentValues(definition, field, info.variableValues) as PageArgs
  try {
    const { filter, explained } = link.far
      ? toFilter(args.where, args.filter, link.far)
      : { filter: args.filter, explained: ONE.explained }
    return {
      args: {
        filter,
        sort: link.far ? toSort(args.sort, link.far) : undefined,
        first: readFirst(args.first, LIMITS.relatedDefault),
        after: args.after,
      },
      explained: (thrown) => inSort(explained(thrown), args.sort),
    }
  } catch (thrown) {
    throw inArguments(thrown, key)
  }
}

/** Gives the lists to their records. Returns the records of the next level. */
function fill(
  { types }: BaseView,
  { ask, parents, key, sets }: Asked,
  lists: readonly RelatedList[],
): Selected {
  const next: RecordNode[] = []
  for (const [n, nodes] of parents.entries()) {
    const list = lists[n]
    if (!list) continue
    const found = list.data.flatMap(({ record, link }, index): { node: RecordNode; index: number }[] => {
      // A type that was just created is not in the schema yet.
      const type = types.get(record.recordType)
      return type ? [{ node: { type, record, link, linked: new Map() }, index }] : []
    })
    const connection: Connection = {
      nodes: found.map(({ node }) => node),
      hasMore: list.hasMore,
      hasPrevious: ask.after != null,
      total: list.total,
      cursorAfter: (at) => list.cursorAfter(found[at]?.index ?? at),
    }
    next.push(...connection.nodes)
    for (const node of nodes) node.linked.set(key, connection)
  }
  return { nodes: next, sets }
}
