/** The versions of records that a query asks for: one statement for all records of a type on a level. */
import {
  type GraphQLFieldConfig,
  type GraphQLFieldConfigMap,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLResolveInfo,
  getArgumentValues,
} from 'graphql'
import { type RecordVersion, versionsOfMany } from '../../engine/history/versions.ts'
import { LIMITS } from '../../foundation/limits.ts'
import type { Context } from '../context.ts'
import { inArguments, readFirst } from './arguments.ts'
import { ENTRY_FIELDS } from './change-types.ts'
import type { RecordNode } from './node.ts'
import { fieldsOf, type Sets } from './selection.ts'

const NAME = '_history'

export const Version = new GraphQLObjectType<RecordVersion, Context>({
  name: '_Version',
  description: 'A version of a record, and the change that made it.',
  fields: ENTRY_FIELDS as GraphQLFieldConfigMap<RecordVersion, Context>,
})

type Args = { first?: number | null; before?: number | null }

const BEFORE = { before: { type: GraphQLInt, description: 'Only versions before this one.' } }

/** The field of an object. Under a row or field policy, it starts with the newest version. */
export const historyField = (seen: 'all' | 'visible'): GraphQLFieldConfig<RecordNode, Context> => ({
  type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(Version))),
  description: 'The versions of the record, newest first.',
  args: {
    first: {
      type: GraphQLInt,
      defaultValue: LIMITS.relatedDefault,
      description: `Versions, 1 to ${LIMITS.pageMax}.`,
    },
    ...(seen === 'all' && BEFORE),
  },
  // Look-ahead has read them.
  resolve: ({ history }, _args, _context, { path }) => history?.get(String(path.key)) ?? [],
})

export async function readHistory(
  { scope }: Context,
  info: GraphQLResolveInfo,
  base: string,
  { nodes, sets }: { nodes: readonly RecordNode[]; sets: Sets },
): Promise<void> {
  for (const [type, ofType] of Map.groupBy(nodes, (node) => node.type)) {
    if (type.history === null) continue
    for (const [key, [field]] of fieldsOf(info, [type.name, '_Record'], sets)) {
      if (field?.name.value !== NAME) continue
      const owner = info.schema.getType(type.name)
      const definition = owner instanceof GraphQLObjectType ? owner.getFields()[NAME] : undefined
      if (!definition) continue
      const { first, before } = getArgumentValues(definition, field, info.variableValues) as Args
      const ids = [...new Set(ofType.map(({ record }) => record.id))]
      try {
        const page = { first: readFirst(first, LIMITS.relatedDefault, 'before'), before: before ?? null }
        const found = await versionsOfMany(scope, base, type.id, ids, page)
        for (const node of ofType) {
          node.history ??= new Map()
          node.history.set(key, found.get(node.record.id) ?? [])
        }
      } catch (thrown) {
        throw inArguments(thrown, key)
      }
    }
  }
}
