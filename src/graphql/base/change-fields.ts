/** The subscription to the changes of records of a type: the change log of the base, as its other streams have it. */
import {
  type GraphQLFieldConfig,
  type GraphQLFieldConfigMap,
  GraphQLFloat,
  GraphQLID,
  GraphQLNonNull,
  type GraphQLResolveInfo,
} from 'graphql'
import { onEndpointChange } from '../../engine/configuration/endpoints/index.ts'
import { changesMatch, followChanges } from '../../engine/history/changes/index.ts'
import * as records from '../../engine/records/index.ts'
import type { Context } from '../context.ts'
import { inArguments } from './arguments.ts'
import type { BaseView, TypeView } from './base-view.ts'
import { changesName, type Event, Operation } from './change-types.ts'
import type { RecordNode } from './node.ts'
import { readLinked } from './read-linked.ts'
import { noneIfAbsent } from './root-fields.ts'
import { below } from './selection.ts'
import { JsonScalar } from './shared-types.ts'
import { toFilter } from './to-filter.ts'
import type { TypeSets } from './type-set.ts'

async function readRecord(
  seen: BaseView,
  type: TypeView,
  id: string,
  context: Context,
  info: GraphQLResolveInfo,
): Promise<RecordNode | null> {
  const record = await records.getRecord(context.scope, seen.base, type.id, id, {}).catch(noneIfAbsent)
  if (!record) return null
  const node: RecordNode = { type, record, linked: new Map() }
  await readLinked(context, info, seen, { nodes: [node], sets: below(info.fieldNodes) })
  return node
}

type Args = {
  after?: number | null
  id?: string | null
  operation?: string | null
  where?: object | null
  filter?: unknown
}

export function changeFields(
  seen: BaseView,
  type: TypeView,
  families: TypeSets,
): GraphQLFieldConfigMap<unknown, Context> {
  const { change, where } = families.of(type)
  const hasPast = type.changes === 'entries'
  const field: GraphQLFieldConfig<unknown, Context> = {
    type: new GraphQLNonNull(change),
    description: `Streams the changes of records of type ${JSON.stringify(type.id)}, from now${hasPast ? ' or after an entry' : ' on'}.`,
    args: {
      ...(hasPast && {
        after: { type: GraphQLFloat, description: 'The seq of an entry. The stream starts after it.' },
      }),
      id: { type: GraphQLID, description: 'Only changes of this record.' },
      operation: { type: Operation },
      where: { type: where, description: 'Only records that match before or after the change.' },
      filter: { type: JsonScalar, description: 'The same, in the filter language of REST.' },
    },
    subscribe: async (_root, args, context) => {
      try {
        return await follow(seen, type, args as Args, context)
      } catch (thrown) {
        throw inArguments(thrown)
      }
    },
    resolve: (event) => event,
  }
  return { [changesName(type)]: field }
}

async function follow(
  seen: BaseView,
  type: TypeView,
  { after, id, operation, where, filter: asked }: Args,
  { scope }: Context,
): Promise<AsyncIterableIterator<Event>> {
  const { base } = seen
  const { filter, explained } = toFilter(where, asked, type)
  const matches = (seqs: readonly number[]) =>
    changesMatch(scope, base, type.id, { filter, seqs }).catch((thrown) => {
      throw explained(thrown)
    })
  // A filter at fault is refused before the first change.
  if (filter) await matches([])
  const changes = await followChanges(scope, base, {
    after,
    id,
    operation,
    kind: 'record',
    recordType: type.id,
  })
  const leave = onEndpointChange(scope, base, () => void changes.return?.())
  const over = (): IteratorResult<Event> => {
    leave()
    return { done: true, value: undefined }
  }
  const next = async (): Promise<IteratorResult<Event>> => {
    for (;;) {
      const found = await changes.next()
      if (found.done) return over()
      if (!filter || (await matches([found.value.seq]))) {
        const { id } = found.value
        const read: Event['read'] = (context, info) => readRecord(seen, type, id, context, info)
        return { done: false, value: { ...found.value, read } }
      }
    }
  }
  const end = async (): Promise<IteratorResult<Event>> => {
    await changes.return?.()
    return over()
  }
  const events: AsyncIterableIterator<Event> = {
    next,
    return: end,
    throw: end,
    [Symbol.asyncIterator]: () => events,
  }
  return events
}
