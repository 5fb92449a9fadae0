/** Writes that a token makes directly, as far as its rules allow: judged before the commit, by what the transaction did. */
import { anyPreviewOf } from '../../../contract/ids.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { accessInChangeSet } from '../../core/change-set/change-set-scope.ts'
import type { Scope } from '../../core/scope.ts'
import { ending } from '../../core/write/dry-run.ts'
import { parseChangeCondition } from '../../data/filter/change-condition.ts'
import { openRequestBatching } from '../../data/ledger/request-batching.ts'
import type { Change } from '../../log/entry.ts'
import { readOwn } from '../../log/read.ts'
import { entriesMeeting } from '../../records/query/matching-entries.ts'
import { type AutoRule, rulesOf } from '../../storage/access/grants.ts'
import { ResponseBudget } from '../../storage/database/capped-query.ts'
import { type Closed, type Db, type Statement, statement } from '../../storage/database/client.ts'
import { WrappedDb } from '../../storage/database/wrapped-db.ts'
import { countWrites, ruleKey } from './counts.ts'
import { keepPace } from './pace.ts'

/** Rolls a write back that no rule allows: it is proposed. */
export class NotAutomatic extends Error {}

const LAST = statement(
  'last_change_before',
  'SELECT coalesce(max(seq), 0)::float8 AS seq FROM plinth.change WHERE base_id = $1',
)
const IS_DRAFTED = statement(
  'is_drafted',
  `SELECT FROM plinth.draft_record d WHERE d.branch = $1 AND (
     (d.record_type, d.id) IN (SELECT * FROM unnest($2::text[], $3::text[]))
     OR (d.record_type, d.external_id) IN (SELECT * FROM unnest($2::text[], $3::text[]))) LIMIT 1`,
)
const WRITES = /\b(?:INSERT INTO|UPDATE|DELETE FROM) plinth\.(?:record|relationship|change)\b/

/** A rule with the types of its grant: it lets nothing pass on others, whatever else the token may write in previews. */
type BoundRule = { readonly rule: AutoRule; readonly types: ReadonlySet<string> }
const rulesOn = ({ access }: Scope, baseId: string): BoundRule[] =>
  access.proposing(baseId).flatMap(({ grant, types }) => rulesOf(grant).map((rule) => ({ rule, types })))

/** Whether a rule of the token lets writes of the base pass. */
export const hasRules = (scope: Scope, baseId: string): boolean => rulesOn(scope, baseId).length > 0

type Bounds = { baseId: string; rules: readonly BoundRule[]; own: string | undefined }

/**
 * The scope of a write by rules. Its transactions end with `NotAutomatic` if a change meets none of them.
 * @param own the change-set of the token: what it has drafted there is not written past it
 */
export function automatically(scope: Scope, baseId: string, own: string | undefined): Scope {
  const db = new JudgedDb(scope, { baseId, rules: rulesOn(scope, baseId), own })
  const access = accessInChangeSet(scope.access, anyPreviewOf(baseId))
  return { ...scope, db, access, batching: openRequestBatching(db, db), egress: unsent(scope), byRules: true }
}

/** Rules judge what the change log holds. What is sent to another system is not in it and cannot be undone, so no rule allows it. */
const unsent = ({ egress }: Scope): Scope['egress'] => ({
  ...egress,
  send: () => Promise.reject(new NotAutomatic()),
})

/** Judges each transaction before its commit. */
class JudgedDb extends WrappedDb {
  readonly #scope: Scope
  readonly #bounds: Bounds

  constructor(scope: Scope, bounds: Bounds) {
    super(scope.db)
    this.#scope = scope
    this.#bounds = bounds
  }
  override query<Row>(original: Statement, values: readonly unknown[], closed?: Closed): Promise<Row[]> {
    return WRITES.test(original.text)
      ? this.statements((tx) => tx.query<Row>(original, values))
      : super.query<Row>(original, values, closed)
  }
  protected override async within<T>(tx: Db, work: (tx: Db) => Promise<T>): Promise<T> {
    const { baseId } = this.#bounds
    const [last] = await tx.query<{ seq: number }>(LAST, [baseId])
    return ending(work(tx), async (isDryRun) => {
      const cap = new ResponseBudget(LIMITS.feedTailBytes, Number.POSITIVE_INFINITY).page()
      const { changes, isCut } = await readOwn(tx, baseId, last?.seq ?? 0, cap)
      // What is not read meets no rule.
      if (isCut) throw new NotAutomatic()
      await judge({ ...this.#scope, db: tx }, this.#bounds, changes)
      if (changes.length > 0 && !isDryRun) await keepPace({ ...this.#scope, db: tx }, baseId, changes.length)
    })
  }
}

/** @throws NotAutomatic if a change meets no rule, or is one more than the rule allows */
async function judge(
  scope: Scope,
  { baseId, rules, own }: Bounds,
  changes: readonly Change[],
): Promise<void> {
  if (changes.length >= LIMITS.automaticWrites) throw new NotAutomatic()
  let rest = changes
  for (const bound of rules) {
    const fitting = await meeting(scope, baseId, bound, rest)
    if (fitting.size === 0) continue
    rest = rest.filter(({ seq }) => !fitting.has(seq))
    await count(scope, bound.rule, fitting.size)
  }
  if (rest.length > 0) throw new NotAutomatic()
  if (own === undefined || changes.length === 0) return
  const named = changes.flatMap(({ recordType, id }): Name[] =>
    recordType === null ? [] : [[recordType, id]],
  )
  if (await isDrafted(scope, own, named)) throw new NotAutomatic()
}

/** A record by its type, and its id or `external_id`. */
export type Name = readonly [recordType: string, name: string]

/** Whether the change-set has a draft of one of the records. */
export async function isDrafted({ db }: Scope, changeSet: string, named: readonly Name[]): Promise<boolean> {
  if (named.length === 0) return false
  const columns = [named.map(([type]) => type), named.map(([, name]) => name)]
  return (await db.query<object>(IS_DRAFTED, [changeSet, ...columns])).length > 0
}

async function meeting(
  scope: Scope,
  baseId: string,
  { rule: { record_type: type, operations, fields, filter }, types }: BoundRule,
  changes: readonly Change[],
): Promise<ReadonlySet<number>> {
  const inside = (path: string) =>
    fields === undefined ||
    fields.some((field) => {
      const at = `/${field.replaceAll('.', '/')}`
      return path === at || path.startsWith(`${at}/`)
    })
  const entries = changes.flatMap(({ kind, recordType, operation, diff, seq }) =>
    kind === 'record' &&
    recordType !== null &&
    (type === '*' || type === recordType) &&
    (types.has('*') || types.has(recordType)) &&
    (operations as readonly string[]).includes(operation) &&
    (operation !== 'update' || diff.every(({ path }) => inside(path)))
      ? [{ seq, recordType }]
      : [],
  )
  if (filter === undefined || entries.length === 0) return new Set(entries.map(({ seq }) => seq))
  return entriesMeeting(scope, baseId, parseChangeCondition(filter, '/filter'), entries)
}

async function count(scope: Scope, rule: AutoRule, writes: number): Promise<void> {
  const { per } = rule
  // A request of GraphQL has a transaction for each of its fields.
  const { used } =
    per === 'request'
      ? await countWrites(scope, ruleKey(rule, scope.requestId), 'day', writes)
      : await countWrites(scope, ruleKey(rule), per, writes)
  if (used > rule.max) throw new NotAutomatic()
}
