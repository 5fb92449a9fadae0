/** The mutations of a record type. Each is a write of the engine, in a transaction of its own. */
import {
  GraphQLBoolean,
  type GraphQLFieldConfig,
  type GraphQLFieldConfigArgumentMap,
  type GraphQLFieldConfigMap,
  GraphQLID,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  GraphQLString,
  visit,
} from 'graphql'
import type { DeletionPlan } from '../../engine/core/write/deletion-plan.ts'
import { expectation } from '../../engine/core/write/preconditions.ts'
import type { WriteScope } from '../../engine/core/write/write.ts'
import { createAttachment, type NewAttachment } from '../../engine/records/attachments/index.ts'
import { claimAndPatch } from '../../engine/records/batch/claim-and-patch.ts'
import type { ClaimedRecords } from '../../engine/records/claims/index.ts'
import * as claims from '../../engine/records/claims/index.ts'
import * as records from '../../engine/records/index.ts'
import { DomainError, invalid, withPaths } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { parseJson } from '../../json/parse.ts'
import type { Context } from '../context.ts'
import { runWrite } from '../mutation.ts'
import { reserveSource, writerOf } from '../record-writers.ts'
import { inArguments } from './arguments.ts'
import { Attachment, type ClaimedRecord, ClaimType } from './attachment-types.ts'
import type { BaseView, TypeView } from './base-view.ts'
import { toLinks } from './link-inputs.ts'
import type { Verb } from './names.ts'
import type { RecordNode } from './node.ts'
import { Deleted, type DeletedOrPlan, type Payload, type Written } from './payload-type.ts'
import { readLinked } from './read-linked.ts'
import { below } from './selection.ts'
import { JsonScalar } from './shared-types.ts'
import { inSort, toSort } from './sort.ts'
import { toData } from './to-data.ts'
import { toFilter } from './to-filter.ts'
import type { TypeSets } from './type-set.ts'

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
const SOURCE = 'The name of an external source of the record type: the record is written there'
const PAIR_OR_SOURCE: GraphQLFieldConfigArgumentMap = {
  ...PAIR,
  externalSource: { type: GraphQLString, description: `Defaults to "default". ${SOURCE}.` },
}
const OF_SOURCE: GraphQLFieldConfigArgumentMap = {
  externalSource: { type: GraphQLString, description: `${SOURCE}, with the id that it has there.` },
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
export const EVERY: GraphQLFieldConfigArgumentMap = {
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
  seen: BaseView,
  type: TypeView,
  families: TypeSets,
): GraphQLFieldConfigMap<unknown, Context> {
  const { input, patch, payload, claimed, where, sort, linksInput } = families.of(type)
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
      extensions,
      resolve: async (_root, args, context, info) => {
        const written = await run(name, { seen, type, work }, args, context, info)
        if (answer === payload) return { record: written, read: reading(written as Written) }
        if (verb !== 'claim') return written
        return (written as ClaimedRecords).data.map(
          ({ record, claim }): ClaimedRecord => ({
            claim: { ...claim, recordId: record.id, status: 'active' },
            read: reading(record as Written),
          }),
        )
      },
    }
    fields[name] = field as GraphQLFieldConfig<unknown, Context>
  }
  const reading =
    (record: Written): Payload['read'] =>
    async (context, info) => {
      if (record.version === null) return null
      const node: RecordNode = { type, record, linked: new Map() }
      await readLinked(context, info, seen, { nodes: [node], sets: below(info.fieldNodes) })
      return node
    }
  const links: GraphQLFieldConfigArgumentMap = linksInput ? { links: { type: linksInput } } : {}
  const data = {
    data: { type: new GraphQLNonNull(input) },
    ...links,
  }
  const from = { cost: LIMITS.typedSourceCost, costWith: 'externalSource' }
  const extensions = type.sources.length > 0 ? from : {}
  const pair = type.sources.length > 0 ? PAIR_OR_SOURCE : PAIR
  const of = type.sources.length > 0 ? OF_SOURCE : {}
  const what = `of type ${JSON.stringify(type.id)}`
  add(
    'create',
    `Creates a record ${what}. An id or external pair that exists is a CONFLICT.`,
    { ...data, id: { type: GraphQLID, description: 'By default one of the server.' }, ...pair },
    (scope, { id, externalId, externalSource }, data, relationships) =>
      writerOf({ externalSource }).createRecord(scope, base, type.id, {
        id,
        externalId,
        externalSource,
        data,
        relationships,
      }),
  )
  add<Named>(
    'update',
    `Patches the data of a record ${what} (RFC 7396).`,
    { ...ID, data: { type: new GraphQLNonNull(patch) }, ...links, ...of, ...EXPECTED },
    (scope, { externalSource, ...args }, data, relationships) => {
      if (externalSource != null) requireName(type, externalSource)
      const patch = { merge: { data, externalSource } }
      return writerOf({ externalSource }).patchRecord(
        scope,
        base,
        type.id,
        args.id,
        patch,
        expected(args),
        relationships,
      )
    },
  )
  add(
    'upsert',
    `Creates a record ${what}, or replaces its whole data. Its external pair identifies it, else its id.`,
    { ...data, id: { type: GraphQLID }, ...pair, ...EXPECTED },
    (scope, args, data, relationships) => {
      const { id, externalId, externalSource } = args
      const content = { externalId, externalSource, data, relationships }
      if (id != null) return writerOf(content).putRecord(scope, base, type.id, id, content, expected(args))
      if (externalId == null) throw unnamed()
      return writerOf(content).putRecordByPair(scope, base, type.id, content, expected(args))
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
  add<AttachArgs>(
    'attach',
    `Attaches a file to a record ${what}, in the place of one of that filename. Without a content, uploadUrl takes it.`,
    {
      ...ID,
      filename: { type: new GraphQLNonNull(GraphQLString) },
      contentType: { type: GraphQLString, description: 'Defaults to "application/octet-stream".' },
      content: { type: GraphQLString, description: 'The content as text.' },
      contentBase64: { type: GraphQLString, description: 'The content in base64.' },
    },
    (scope, { id, filename, contentType, content, contentBase64 }) =>
      createAttachment(scope, [base, type.id, id], { filename, contentType, content, contentBase64 }),
    new GraphQLNonNull(Attachment),
  )
  add<ClaimArgs>(
    'claim',
    `Claims free records ${what} that match, each for one caller until its lease ends. None is an empty list.`,
    {
      where: { type: where },
      filter: { type: JsonScalar, description: 'The same, in the filter language of REST.' },
      sort: { type: new GraphQLList(new GraphQLNonNull(sort)), description: 'Defaults to the oldest first.' },
      first: { type: GraphQLInt, description: 'At most so many, 1 to 100. Defaults to 1.' },
      leaseSeconds: { type: GraphQLInt, description: 'Defaults to 600.' },
      maxAttempts: { type: GraphQLInt, description: 'Skip records that were claimed this often.' },
      patch: { type: patch, description: 'Written to the data of each claimed record.' },
    },
    (scope, args) => claim(scope, base, type, args),
    new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(claimed))),
  )
  const ofClaim = { claimId: { type: new GraphQLNonNull(GraphQLID) } }
  const ends = { complete: claims.completeClaim, release: claims.releaseClaim }
  for (const [verb, effect] of [
    ['complete', 'Ends a claim: the record is handed out again only if it changes'],
    ['release', 'Gives a claim back: others can claim the record'],
  ] as const)
    add<Args & { claimId: string }>(
      verb,
      `${effect}. Records ${what}.`,
      ofClaim,
      async (scope, { claimId }) => {
        await claims.findClaim(scope, base, claimId, '/claim_id', type.id)
        return ends[verb](scope, base, claimId).catch((thrown) => {
          throw withPaths(thrown, (path) => (path === '/id' ? '/claim_id' : path))
        })
      },
      new GraphQLNonNull(ClaimType),
    )
  return fields
}

type AttachArgs = Args & NewAttachment & { id: string }
type ClaimArgs = Args & {
  where?: object | null
  filter?: unknown
  sort?: readonly object[] | null
  first?: number | null
  leaseSeconds?: number | null
  maxAttempts?: number | null
  patch?: object | null
}

async function claim(
  scope: WriteScope,
  base: string,
  type: TypeView,
  { where, filter: asked, sort, first, patch, ...lease }: ClaimArgs,
): Promise<ClaimedRecords> {
  const { filter, explained } = toFilter(where, asked, type)
  const written = patch ? toData(patch, type) : null
  try {
    return await claimAndPatch(scope, base, type.id, {
      ...{ filter, sort: toSort(sort, type), limit: first, leaseSeconds: lease.leaseSeconds },
      ...{ maxAttempts: lease.maxAttempts, patch: written?.data },
    })
  } catch (thrown) {
    const ofData = withPaths(thrown, (path) => path.replace(/^\/patch(?=\/|$)/, '/data'))
    const said = written
      ? withPaths(written.explained(ofData), (path) => path.replace(/^\/data(?=\/|$)/, '/patch'))
      : thrown
    throw inSort(explained(said), sort)
  }
}

const expected = ({ expectedVersion, claimId }: Args) =>
  expectation({ expectedVersions: expectedVersion == null ? null : [expectedVersion], claimId })

async function run<A extends Args>(
  name: string,
  { seen, type, work }: { seen: BaseView; type: TypeView; work: Work<A> },
  args: A,
  context: Context,
  info: GraphQLResolveInfo,
): Promise<object> {
  checkNumbers(info)
  const { data, explained } = args.data ? toData(args.data, type) : NO_DATA
  const { relationships, explained: ofLinks } = toLinks(args.links, type)
  const request = { base: seen.base, ...args }
  try {
    const target = { base: seen.base, recordType: type.id, externalSource: args.externalSource }
    return await reserveSource(context.scope, target, (scope) =>
      runWrite<object>(
        name,
        request,
        { ...context, scope },
        (within) => work(within, args, data, relationships),
        { answer: (plan): DeletedOrPlan => ({ id: args.id ?? '', plan: plan as DeletionPlan }) },
      ),
    )
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

/** @throws VALIDATION_ERROR for a name that is no source, which would name a stored record of another system */
function requireName({ id, sources }: TypeView, name: string): void {
  if (sources.includes(name)) return
  throw invalid({
    path: '/external_source',
    code: 'unknown_source',
    message: `Type "${id}" has no source "${name.slice(0, 64)}". Leave externalSource out for a stored record.`,
    allowed: sources,
  })
}

const unnamed = () =>
  invalid({
    path: '/id',
    code: 'required',
    message: 'Send the id of the record, or externalId with its externalSource.',
  })
