/** Binds the root fields of the schema to change-sets: at the id of one, they run for its production base, over the drafts. */
import { type DocumentNode, type GraphQLFieldResolver, type GraphQLSchema, Kind } from 'graphql'
import { anyPreviewOf, productionOf } from '../contract/ids.ts'
import {
  inChangeSet,
  isChangeSet,
  notInChangeSets,
  proposesTo,
} from '../engine/core/change-set/change-set-scope.ts'
import {
  automatically,
  hasRules,
  isDrafted,
  type Name,
  NotAutomatic,
} from '../engine/environments/change-sets/automatic.ts'
import { paced } from '../engine/environments/change-sets/pace.ts'
import {
  beforeProposals,
  ownChangeSet,
  toOwnChangeSet,
} from '../engine/environments/change-sets/proposals.ts'
import { DomainError } from '../foundation/errors.ts'
import type { Context } from './context.ts'

/** Root fields that read or write records and links, or read how they are defined. */
const BOUND = new Set([
  ...[
    'record',
    'records',
    'recordRows',
    'sourceRecord',
    'sourceRecords',
    'aggregate',
    'related',
    'relationship',
    'relationships',
  ],
  ...['recordType', 'recordTypes', 'relationshipType', 'relationshipTypes', 'visibleTypes', 'exportTools'],
  ...['recordTypeProfile', 'inferredSchema', 'sql', 'sqlRows', 'executeSql', 'runAction'],
  ...['outlinedTypes', 'outlinedLinks', 'outlinedFileTypes', 'seesFileTypes'],
  ...['createRecord', 'putRecord', 'putRecordByExternalId', 'patchRecord', 'deleteRecord', 'cancelRecord'],
  ...[
    'restoreRecord',
    'batch',
    'createRelationship',
    'putRelationship',
    'deleteRelationship',
    'unlinkRecords',
  ],
])
/** Root fields that read files and attachments, which are those of production. Nothing of them is written. */
const SHOWN = new Set([
  ...['file', 'files', 'fileKeys', 'fileText', 'fileDiff', 'fileVersions', 'searchFiles', 'fileType'],
  ...['fileTypes', 'attachment', 'attachmentById', 'attachments'],
])
/** What may have been felt outside before it is judged: no rule lets it run directly. */
const SENDS = new Set(['runAction'])
/** What finds the records that it writes by what they hold: those that the token sees, so no rule is asked past its drafts. */
const FINDS = new Set(['executeSql'])
/** Queries of the log that show the difference of a change-set at its id. */
const DIFFERENCE = new Set(['changes', 'changeGroups', 'changesEnd'])
/** Root fields about a change-set itself. Nothing else takes its id. */
const OWN = new Set(['discardChanges', 'changeSetReviews', 'submitPreview', 'reviewPreview', 'reopenPreview'])

/** Whether a static operation can write into a change-set, if it writes. */
export const writesDrafts = ({ definitions }: DocumentNode): boolean =>
  definitions.every(
    (part) =>
      part.kind !== Kind.OPERATION_DEFINITION ||
      part.selectionSet.selections.every((each) => each.kind === Kind.FIELD && BOUND.has(each.name.value)),
  )

/** Binds the schema. Without it, resolvers would take a change-set for an empty base. */
export function bindChangeSets(schema: GraphQLSchema): GraphQLSchema {
  const mutations = schema.getMutationType()
  const queries = schema.getQueryType()
  for (const root of [queries, mutations, schema.getSubscriptionType()]) {
    const isWrite = root === mutations
    for (const field of Object.values(root?.getFields() ?? {})) {
      if (OWN.has(field.name) || !field.args.some(({ name }) => name === 'base')) continue
      const kind = root === queries && DIFFERENCE.has(field.name) ? 'difference' : isWrite ? 'write' : 'read'
      if (field.resolve) field.resolve = bound(field.name, kind, field.resolve)
      if (field.subscribe) field.subscribe = bound(field.name, kind, field.subscribe)
    }
  }
  return schema
}

type Args = {
  readonly base?: unknown
  readonly expectedVersions?: unknown
  readonly recordType?: unknown
  readonly id?: unknown
  readonly externalId?: unknown
  readonly operations?: unknown
}

function bound(
  name: string,
  kind: 'read' | 'write' | 'difference',
  resolve: GraphQLFieldResolver<unknown, Context>,
): GraphQLFieldResolver<unknown, Context> {
  const isWrite = kind === 'write'
  const isDifference = kind === 'difference'
  return (root, args: Args, context, info) => {
    const { base } = args
    if (typeof base !== 'string') return resolve(root, args, context, info)
    if (productionOf(base) === base) {
      if (!proposesTo(context.scope, base) || !BOUND.has(name)) return resolve(root, args, context, info)
      const run = (within: Context, own?: string) => resolve(root, fitted(args, context, own), within, info)
      return isWrite
        ? writeByRules(context, base, { name, args, run })
        : proposing(context, base, false).then((within) => run(within))
    }
    return isChangeSet(context.scope, base).then(async (isOne) => {
      if (!isOne) return resolve(root, args, context, info)
      if (!BOUND.has(name) && !SHOWN.has(name) && !isDifference) throw notInChangeSets('This', base)
      const within = await inside(context, base, { isWrite, isDifference })
      return resolve(root, { ...fitted(args, context, base), base: productionOf(base) }, within, info)
    })
  }
}

/** Whether the base of an address is a change-set. */
export const isAtChangeSet = ({ scope }: Context, base: string): Promise<boolean> => isChangeSet(scope, base)

/** What the ETags of a change-set end with, after the version: `3-fix`. */
export const tagOf = (id: string): string => id.slice(anyPreviewOf(productionOf(id)).length - 1)

/** The arguments of a request to a change-set, whose ETags fit there only. */
function fitted(args: Args, { write: { tags } }: Context, id: string | undefined): Args {
  const versions = args.expectedVersions
  if (id === undefined || !tags || !Array.isArray(versions)) return args
  const [start, end] = ['"', `${tagOf(id)}"`]
  const versionOf = (tag = '') =>
    tag.startsWith(start) && tag.endsWith(end) ? Number(tag.slice(start.length, -end.length)) || 0 : 0
  return { ...args, expectedVersions: versions.map((each, n) => each || versionOf(tags[n]?.trim())) }
}

type Write<T> = {
  readonly name: string
  readonly args: Args
  readonly run: (within: Context, own?: string) => T
}

/** Writes directly what the rules of the token allow, and proposes the rest. */
async function writeByRules<T>(context: Context, base: string, write: Write<T>): Promise<Awaited<T>> {
  const { scope } = context
  const { name, args, run } = write
  const own = hasRules(scope, base) && !SENDS.has(name) ? await ownChangeSet(scope, base) : null
  const isOfDrafts = own && (FINDS.has(name) || (await isDrafted(scope, own, namedIn(args))))
  if (own !== null && !isOfDrafts)
    try {
      const direct = automatically(await paced(scope, base, false), base, own)
      return await run({ ...context, scope: direct }, own)
    } catch (thrown) {
      if (!(thrown instanceof NotAutomatic || (own && isOfRecords(thrown)))) throw thrown
    }
  const within = await proposing(context, base, true)
  return await run(within, within.scope.changeSet)
}

/** The records that a write names. */
function namedIn({ recordType, id, externalId, operations }: Args): Name[] {
  const listed = Array.isArray(operations) ? operations : []
  return [
    ...[id, externalId].map((name) => [recordType, name]),
    ...listed.flatMap((each) => [each?.id, each?.external_id].map((name) => [each?.record_type, name])),
  ].filter((each): each is [string, string] => each.every((part) => typeof part === 'string'))
}

/** A refusal by what production holds, where the token may see a draft. */
const isOfRecords = (thrown: unknown): boolean =>
  thrown instanceof DomainError && ['NOT_FOUND', 'CONFLICT', 'VALIDATION_ERROR'].includes(thrown.code)

/**
 * The context of a token that proposes what it writes to a production base: in its change-set, which the first write
 * opens. The rights of the token alone let nothing of production be written.
 */
async function proposing(context: Context, base: string, isWrite: boolean): Promise<Context> {
  const { scope } = context
  if (isWrite) return { ...context, scope: await toOwnChangeSet(await paced(scope, base, true), base) }
  const own = await knownOwn(context, base)
  return own === undefined
    ? { ...context, scope: beforeProposals(scope, base) }
    : inside(context, own, { isWrite })
}

const known = new WeakMap<Context['write'], Map<string, Promise<string | undefined>>>()

/** The change-set of a token that proposes: the root fields of one query look it up once. */
function knownOwn({ scope, write }: Context, base: string): Promise<string | undefined> {
  const ofRequest = known.get(write) ?? new Map<string, Promise<string | undefined>>()
  known.set(write, ofRequest)
  const found = ofRequest.get(base) ?? ownChangeSet(scope, base)
  ofRequest.set(base, found)
  return found
}

async function inside(
  context: Context,
  id: string,
  { isWrite, isDifference = false }: { isWrite: boolean; isDifference?: boolean },
): Promise<Context> {
  const at = isWrite ? await paced(context.scope, id, true) : context.scope
  const scope = await inChangeSet(at, id, { ofLog: isDifference })
  context.write.seenIn = id
  return { ...context, scope }
}

/**
 * The production base of an address, and the context in which its requests run: in the change-set of the address, or in that of a
 * token which proposes. With `isWrite` false, nothing may be written in it.
 */
export async function atAddress(
  context: Context,
  base: string,
  isWrite: boolean,
): Promise<{ base: string; context: Context }> {
  if (productionOf(base) !== base)
    return (await isChangeSet(context.scope, base))
      ? { base: productionOf(base), context: await inside(context, base, { isWrite }) }
      : { base, context }
  return {
    base,
    context: proposesTo(context.scope, base) ? await proposing(context, base, isWrite) : context,
  }
}

/** What a token counts at an address: of what it may not read, nothing. The tags of the answer are those of the base. */
export const countedAt = (context: Context, base: string) =>
  atAddress({ ...context, write: { ...context.write } }, base, false).catch((thrown: unknown) => {
    if (thrown instanceof DomainError && thrown.code === 'FORBIDDEN') return { base, context }
    throw thrown
  })

/**
 * Refuses an address that has no change-sets.
 * @throws FORBIDDEN
 */
export async function refuseChangeSet({ scope }: Context, base: string): Promise<void> {
  if (await isChangeSet(scope, base)) throw notInChangeSets('The schema of an endpoint', base)
}
