import { invalid } from '../../foundation/errors.ts'
import { mapInTurns, nextTurn, turnIsOver } from '../../foundation/event-loop-turns.ts'
import { requireType } from '../configuration/record-types/index.ts'
import { cursorsOf, openCursor } from '../core/cursor.ts'
import { type Page, type PageArgs, readPage, toPage } from '../core/page.ts'
import type { TypePolicy } from '../core/policy.ts'
import { authorize, refuseWithPolicy } from '../core/row-policy/apply.ts'
import { seenRecord } from '../core/row-policy/project-data.ts'
import { read, readPageRows, type Scope, viewerOf } from '../core/scope.ts'
import { compileFilter } from '../data/filter/compile.ts'
import { recordNotFound, written } from '../data/ledger/record.ts'
import { type DiffStep, diffOf, type LoggedState, recordDocument } from '../log/diff.ts'
import { AUTHOR, type AuthorRow, authorIn, type Change, callFor } from '../log/entry.ts'
import { type PackedCall, unpackCall } from '../log/tool-call.ts'
import { compileFor } from '../records/query/compile-query.ts'
import { type BoundedType, readBounded } from '../records/query/policy-read.ts'
import { UNSORTED } from '../records/query/sort.ts'
import { absentRecord } from '../records/relationships/missing-ends.ts'
import { shaped, statement, timed } from '../storage/database/client.ts'

/** One version of a record with its change. */
export type RecordVersion = {
  version: number
  operation: string
  at: string
  actor: Change['actor']
  requestId: string
  call: Change['call']
  /** Sequence number of the change in the base's log. */
  seq: number
  /** The id of the change, delivery or run that caused it. */
  cause: string | null
  /** RFC 6902 patch from the previous version. */
  diff: DiffStep[]
}

type Row = LoggedState &
  AuthorRow & {
    seq: string
    version: number
    at: Date | string
    request_id: string
    call: PackedCall | null
    cause: string | null
  }

/** Versions before `$4`, newest first: a page, plus one for the diff of its last entry. */
const LIST_VERSIONS = timed(
  statement(
    'list_versions',
    `SELECT seq::text, version, operation, at, ${AUTHOR}, request_id, call, cause,
       data, external_id, external_source, cancelled_at
     FROM plinth.change
     WHERE kind = 'record' AND base_id = $1 AND record_type = $2 AND id = $3 AND ($4::int IS NULL OR version < $4)
     ORDER BY version DESC LIMIT $5 OFFSET $6`,
  ),
)
const COUNT_VERSIONS = statement(
  'count_versions',
  `SELECT count(*)::int AS total FROM plinth.change WHERE kind = 'record' AND base_id = $1 AND record_type = $2 AND id = $3`,
)

/**
 * Lists the retained versions of a record, newest first, also of a deleted record.
 * @throws FORBIDDEN outside the grants; NOT_FOUND when the base or the type is absent, or the record never
 * existed
 */
export async function listVersions(
  scope: Scope,
  baseId: string,
  recordType: string,
  id: string,
  args: PageArgs,
): Promise<Page<RecordVersion>> {
  const policy = authorize(scope, 'read', baseId, recordType)
  const page = readPage(args)
  const type = await requireType(scope, baseId, recordType)
  if (policy && !(await isThere(scope, policy, type, id))) throw recordNotFound(recordType, id)
  const target = [baseId, recordType, id]
  const boundTo = ['history', ...target, scope.access.grants, ...(policy ? [scope.policy?.name] : [])]
  const before = args.cursor ? openCursor(scope.keys.cursor, boundTo, args.cursor).values[0] : null
  const asked = [...target, before, page.limit + 1, page.offset]
  // Each version is diffed against the previous one, so read one more.
  const { rows, isCut } = await readPageRows<Row>(scope, LIST_VERSIONS, asked, { atLeast: 2 })
  const needsCount = page.includeTotal || rows.length === 0
  const [counted] = needsCount ? await read<{ total: number }>(scope, COUNT_VERSIONS, target) : []
  if (counted?.total === 0) throw await absentRecord(scope, baseId, recordType, id)
  const seen = policy ? await withinPolicy(scope, policy, type, rows) : rows
  const shown = isCut && seen.length === rows.length ? seen.slice(0, -1) : seen
  // A total would count versions that the policy hides.
  const total = page.includeTotal && !policy ? (counted?.total ?? null) : null
  const found = toPage(shown, page, total, isCut && seen.length === rows.length)
  const versions = await mapInTurns(found.data, (row, i) =>
    callFor(viewerOf(scope), baseId, toVersion(row, seen[i + 1])),
  )
  return {
    ...found,
    data: versions,
    ...cursorsOf(scope.keys.cursor, boundTo, found, ({ version }) => ({ id, values: [version] })),
  }
}

const isThere = async (
  scope: Scope,
  { filter }: TypePolicy,
  type: BoundedType,
  id: string,
): Promise<boolean> => (await readBounded(scope, { ...NO_POLICY, filter }, type, id)) !== undefined

const NO_POLICY: TypePolicy = {
  filter: null,
  writeFilter: null,
  visible: null,
  defaults: {},
  attachments: false,
}

async function withinPolicy(
  scope: Scope,
  policy: TypePolicy,
  type: BoundedType,
  rows: readonly Row[],
): Promise<Row[]> {
  return visibleVersions(policy, await seqsWithin(scope, policy, type, rows), rows)
}

/**
 * The versions with their visible fields, newest first, back to the first one in which the record did not match the
 * policy: what it was then is out of reach.
 */
function visibleVersions<R extends Row>(
  policy: TypePolicy,
  within: ReadonlySet<string>,
  rows: readonly R[],
): R[] {
  const end = rows.findIndex(({ seq }) => !within.has(seq))
  return (end < 0 ? rows : rows.slice(0, end)).map((row) => seenRecord(policy, row))
}

/** The entries in which the record matched the policy. */
async function seqsWithin(
  scope: Scope,
  policy: TypePolicy,
  type: BoundedType,
  rows: readonly Row[],
): Promise<ReadonlySet<string>> {
  const { parameters, operands } = compileFor({ baseId: type.baseId, type, sort: UNSORTED })
  const { text, values } = parameters.bind(
    `SELECT r.seq::text AS seq FROM (SELECT c.*, c.at AS updated_at FROM plinth.change c
       WHERE c.base_id = ${parameters.add(type.baseId)} AND c.seq = ANY (${parameters.add(rows.map(({ seq }) => seq))}::bigint[])) r
     WHERE r.operation <> 'delete' AND ${policy.filter ? compileFilter(policy.filter, operands) : 'true'}`,
  )
  return new Set((await read<{ seq: string }>(scope, shaped(text), values)).map(({ seq }) => seq))
}

/**
 * The versions before `$4` of many records, newest first: up to `$5` of each. Lateral joins force index look-ups in
 * any plan.
 */
const LIST_VERSIONS_OF_MANY = timed(
  statement(
    'list_versions_of_many',
    `SELECT k.id AS of, v.* FROM unnest($3::text[]) AS k (id), LATERAL (
       SELECT seq::text, version, operation, at, ${AUTHOR}, request_id, call, cause,
         data, external_id, external_source, cancelled_at
       FROM plinth.change
       WHERE kind = 'record' AND base_id = $1 AND record_type = $2 AND id = k.id COLLATE "C" AND ($4::int IS NULL OR version < $4)
       ORDER BY version DESC LIMIT $5) v`,
  ),
)

/**
 * The newest retained versions of records of a type, in one statement, by their ids: up to `first` of each, before a
 * version if given.
 * @throws FORBIDDEN outside the grants, and for `before` under a policy; VALIDATION_ERROR if they are too large
 */
export async function versionsOfMany(
  scope: Scope,
  baseId: string,
  recordType: string,
  ids: readonly string[],
  { first, before }: { first: number; before: number | null },
): Promise<ReadonlyMap<string, readonly RecordVersion[]>> {
  const policy = authorize(scope, 'read', baseId, recordType)
  // What is between is not read, and could be out of reach.
  if (before !== null) refuseWithPolicy(policy, recordType, 'A part of the history')
  // Each version is diffed against the previous one, so read one more.
  const asked = [baseId, recordType, ids, before, first + 1]
  const { rows, isCut } = await readPageRows<Row & { of: string }>(scope, LIST_VERSIONS_OF_MANY, asked)
  if (isCut) throw tooLarge()
  const within =
    policy && (await seqsWithin(scope, policy, await requireType(scope, baseId, recordType), rows))
  const found = new Map<string, readonly RecordVersion[]>()
  for (const [id, own] of Map.groupBy(rows, ({ of }) => of)) {
    if (turnIsOver()) await nextTurn()
    const all = own.sort((a, b) => b.version - a.version)
    const newest = policy && within ? visibleVersions(policy, within, all) : all
    found.set(
      id,
      newest.slice(0, first).map((row, i) => callFor(viewerOf(scope), baseId, toVersion(row, newest[i + 1]))),
    )
  }
  return found
}

const tooLarge = () =>
  invalid({
    path: '/first',
    code: 'too_large',
    message: 'The versions exceed the size of a response. Send a smaller first, or read fewer records.',
  })

const toVersion = (row: Row, previous: Row | undefined): RecordVersion => ({
  version: row.version,
  operation: row.operation,
  at: written(row.at),
  actor: authorIn(row),
  requestId: row.request_id,
  call: unpackCall(row.call),
  seq: Number(row.seq),
  cause: row.cause,
  // The state before a deletion may be purged.
  diff:
    row.operation === 'delete'
      ? [{ op: 'remove', path: '' }]
      : diffOf(recordDocument(previous), recordDocument(row)),
})
