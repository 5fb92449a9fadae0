/** The mutations of a record type. Each is a write of the engine, in a transaction of its own. */
import {
  GraphQLBoolean,
  type GraphQLFieldConfig,
  type GraphQLFieldConfigArgumentMap,
  type GraphQLFieldConfigMap,
  GraphQLID,
  GraphQLInt,
  GraphQLNonNull,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  GraphQLString,
  visit,
} from 'graphql'
import * as records from '../../engine/records/index.ts'
import type { DeletionPlan } from '../../engine/write/deletion-plan.ts'
import { expectation } from '../../engine/write/preconditions.ts'
import type { WriteScope } from '../../engine/write/write.ts'
import { DomainError, invalid } from '../../foundation/errors.ts'
import { parseJson } from '../../json/parse.ts'
import type { Context } from '../context.ts'
import { runWrite } from '../mutation.ts'
import { inArguments } from './arguments.ts'
import type { Families } from './family.ts'
import { toLinks } from './link-inputs.ts'
import type { Verb } from './names.ts'
import type { RecordNode } from './node.ts'
import { Deleted, type DeletedOrPlan, type Payload } from './payload-type.ts'
import { readLinked } from './read-linked.ts'
import type { SeenBase, SeenType } from './seen.ts'
import { below } from './selection.ts'
import { toData } from './to-data.ts'

type Args = {
  id?: string | null
  externalId?: string | null
  externalSource?: string | null
  data?: object
  expectedVersion?: number | null
  claimId?: string | null
  idempotencyKey?: string | null
  dryRun?: boolean | null
  links?: object | null
  askFirst?: boolean | null
  planToken?: string | null
}
type Named = Args & { id: string }
/** A write. `data` is the argument by the names of the properties. */
type Work<A> = (
  scope: WriteScope,
  args: A,
  data: object,
  relationships: readonly records.RecordLink[],
) => Promise<object>

const ID = { id: { type: new GraphQLNonNull(GraphQLID) } }
const PAIR: GraphQLFieldConfigArgumentMap = {
  externalId: { type: GraphQLString },
  externalSource: { type: GraphQLString, description: 'Defaults to "default".' },
}
const EXPECTED: GraphQLFieldConfigArgumentMap = {
  expectedVersion: { type: GraphQLInt, description: 'Write only if the current version is this.' },
  claimId: { type: GraphQLID, description: 'A claim on the record, which the token must still hold.' },
}
const PLAN: GraphQLFieldConfigArgumentMap = {
  askFirst: {
    type: GraphQLBoolean,
    description: 'If the deletion needs approval, delete nothing and return a plan.',
  },
  planToken: {
    type: GraphQLString,
    description: 'The token of an approved plan: do exactly what it says, if nothing of it has changed.',
  },
}
const EVERY: GraphQLFieldConfigArgumentMap = {
  idempotencyKey: {
    type: GraphQLString,
    description: 'Repeated requests with the same key take effect once. 1 to 255 visible ASCII characters.',
  },
  dryRun: {
    type: GraphQLBoolean,
    description: 'Execute the write, roll it back, and return what it would have done.',
  },
}

export function mutationFields(
  seen: SeenBase,
  type: SeenType,
  families: Families,
): GraphQLFieldConfigMap<unknown, Context> {
  const { input, patch, payload, linksInput } = families.of(type)
  const { base } = seen
  const fields: GraphQLFieldConfigMap<unknown, Context> = {}
  const add = <A extends Args>(
    verb: Verb,
    description: string,
    own: GraphQLFieldConfigArgumentMap,
    work: Work<A>,
    answer: GraphQLOutputType = payload,
  ) => {
    if (!type.verbs.includes(verb)) return
    const name = `${verb}${type.name}`
    const field: GraphQLFieldConfig<unknown, Context, A> = {
      type: answer,
      description,
      args: { ...own, ...EVERY },
      resolve: async (_root, args, context, info) => {
        const written = await run(name, { seen, type, work }, args, context, info)
        return answer === payload
          ? { record: written, read: reading(written as records.RecordItem) }
          : written
      },
    }
    fields[name] = field as GraphQLFieldConfig<unknown, Context>
  }
  const reading =
    (record: records.RecordItem): Payload['read'] =>
    async (context, info) => {
      const node: RecordNode = { type, record, linked: new Map() }
      await readLinked(context, info, seen, { nodes: [node], sets: below(info.fieldNodes) })
      return node
    }
  const links: GraphQLFieldConfigArgumentMap = linksInput ? { links: { type: linksInput } } : {}
  const data = {
    data: { type: new GraphQLNonNull(input) },
    ...links,
  }
  const what = `of type ${JSON.stringify(type.id)}`
  add(
    'create',
    `Creates a record ${what}. An id or external pair that exists is a CONFLICT.`,
    { ...data, id: { type: GraphQLID, description: 'By default one of the server.' }, ...PAIR },
    (scope, { id, externalId, externalSource }, data, relationships) =>
      records.createRecord(scope, base, type.id, { id, externalId, externalSource, data, relationships }),
  )
  add<Named>(
    'update',
    `Patches the data of a record ${what} (RFC 7396).`,
    { ...ID, data: { type: new GraphQLNonNull(patch) }, ...links, ...EXPECTED },
    (scope, args, data, relationships) =>
      records.patchRecord(scope, base, type.id, args.id, { merge: { data } }, expected(args), relationships),
  )
  add(
    'upsert',
    `Creates a record ${what}, or replaces its whole data. Its external pair identifies it, else its id.`,
    { ...data, id: { type: GraphQLID }, ...PAIR, ...EXPECTED },
    (scope, args, data, relationships) => {
      const { id, externalId, externalSource } = args
      const content = { externalId, externalSource, data, relationships }
      if (id != null) return records.putRecord(scope, base, type.id, id, content, expected(args))
      if (externalId == null) throw unnamed()
      return records.putRecordByPair(scope, base, type.id, content, expected(args))
    },
  )
  add<Named>(
    'delete',
    `Deletes a record ${what} with its links, and the records that they cascade to.`,
    { ...ID, ...EXPECTED, ...PLAN },
    (scope, args) => records.deleteRecord(scope, [base, type.id, args.id], expected(args)),
    Deleted,
  )
  add<Named>(
    'cancel',
    `Sets the status of a record ${what} to "cancelled". It stays readable and writable.`,
    { ...ID, ...EXPECTED },
    (scope, args) => records.cancelRecord(scope, [base, type.id, args.id], expected(args)),
  )
  add<Named>(
    'restore',
    `Restores a cancelled or deleted record ${what}.`,
    { ...ID, ...EXPECTED },
    (scope, args) => records.restoreRecord(scope, [base, type.id, args.id], expected(args)),
  )
  return fields
}

const expected = ({ expectedVersion, claimId }: Args) =>
  expectation({ expectedVersions: expectedVersion == null ? null : [expectedVersion], claimId })

async function run<A extends Args>(
  name: string,
  { seen, type, work }: { seen: SeenBase; type: SeenType; work: Work<A> },
  args: A,
  context: Context,
  info: GraphQLResolveInfo,
): Promise<object> {
  checkNumbers(info)
  const { data, explained } = args.data ? toData(args.data, type) : NO_DATA
  const { relationships, explained: ofLinks } = toLinks(args.links, type)
  const request = { base: seen.base, ...args }
  try {
    return await runWrite<object>(name, request, context, (scope) => work(scope, args, data, relationships), {
      answer: (plan): DeletedOrPlan => ({ id: args.id ?? '', plan: plan as DeletionPlan }),
    })
  } catch (thrown) {
    throw inArguments(ofLinks(explained(thrown)))
  }
}

const NO_DATA = { data: {}, explained: (thrown: unknown) => thrown }

/**
 * Numbers of the document must survive a round trip, like those of a body: the scalars of GraphQL round them.
 * @throws VALIDATION_ERROR
 */
function checkNumbers({ fieldNodes, operation: { variableDefinitions = [] } }: GraphQLResolveInfo): void {
  const check = ({ value }: { value: string }) => {
    try {
      parseJson(value)
    } catch (thrown) {
      if (!(thrown instanceof DomainError)) throw thrown
      throw invalid({ path: '/data', code: thrown.details[0]?.code ?? 'number', message: thrown.message })
    }
  }
  const written = [...fieldNodes.flatMap(({ arguments: args = [] }) => args), ...variableDefinitions]
  for (const node of written) visit(node, { IntValue: check, FloatValue: check })
}

const unnamed = () =>
  invalid({
    path: '/id',
    code: 'required',
    message: 'Send the id of the record, or externalId with its externalSource.',
  })
