/** Promotes the configuration of a preview to its production base. */

import { digestInTurns } from '../../contract/canonical-hash.ts'
import { PromoteBody } from '../../contract/config-shapes.ts'
import { check, inBody } from '../../contract/validate.ts'
import { DomainError, invalid, oneFault } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { uuidv7 } from '../../foundation/uuid.ts'
import { kindNamed } from '../configuration/kinds.ts'
import { lockForPromotion } from '../configuration/lifecycle/lock.ts'
import { isChangeSet } from '../core/change-set/change-set-scope.ts'
import type { Planning } from '../core/write/plan-approval.ts'
import type { WriteScope } from '../core/write/write.ts'
import { setCause } from '../log/entry.ts'
import { requirePermission } from '../storage/access/access.ts'
import { applyEdits, type Prepared, prepareEdits } from './apply-edits.ts'
import { promoteChangeSet } from './change-sets/promote.ts'
import { editWarnings } from './change-warnings.ts'
import { type Edit, nonEmpty, type ShownEdit } from './edits.ts'
import { atNamed, atResource } from './failures.ts'
import { changeOptimistically } from './optimistic-change.ts'
import { migrationWarnings, offering, previewMigrations } from './preview-migrations.ts'
import { nothingPromoted, type Promotion, storePromotion } from './promotion.ts'
import { type PromotionEdit, withOrigins } from './promotion-edits.ts'
import { atFrom, checkPreviewOf, ofConfiguration, prepareOptions, selection } from './promotion-request.ts'
import { hashOf, snapshotIn } from './snapshot.ts'
import { type Comparison, type Conflict, compareSides, moveFork, readFork } from './three-way.ts'

/**
 * Applies the changes of a preview since its fork to its production base, in one transaction, and moves the
 * fork. `also` runs in the same transaction.
 * @throws FORBIDDEN; VALIDATION_ERROR; NOT_FOUND; CONFLICT where both sides changed, what was looked at has, or data does not fit
 */
export async function promote(
  scope: WriteScope,
  baseId: string,
  input: object,
  also?: (within: WriteScope, done: Promotion) => Promise<void>,
): Promise<Promotion> {
  const body = check(PromoteBody, input, inBody())
  const { from, prune = false, force = false, migration, hash } = body
  checkPreviewOf(baseId, from)
  if (await isChangeSet(scope, from)) {
    if (hash !== undefined) throw hasRevision()
    return promoteChangeSet(scope, baseId, body, also)
  }
  requirePermission(scope.access, 'admin', baseId, '*')
  requirePermission(scope.access, 'read', from, '*')
  const resources = ofConfiguration(body)
  // The plan of a promotion is of the whole. It confirms no deletion of a type with records: that needs `force`.
  const { planning, ...unplanned } = scope
  const atEdit = resources ? atNamed : atResource
  const plan = async (at: WriteScope): Promise<PreparedPromotion> => {
    const sides = {
      fork: await readFork(at.db, from),
      preview: await snapshotIn(at.db, from),
      production: await snapshotIn(at.db, baseId),
    }
    if (hash !== undefined && hash !== (await hashOf(sides.preview))) throw changedSince(from)
    const found = await compareSides(sides, prune, selection(resources, sides))
    if (found.conflicts.length > 0 && !force) throw onBothSides(found.conflicts)
    const past = await withOrigins(at.db, baseId, from, found.edits)
    const migrations = await previewMigrations(at.db, baseId, from, past, migration)
    const located = offering(atEdit, migrations)
    const edits = await prepareEdits(past, prepareOptions(past, migration, located), { scope: at, baseId })
    const warnings = [...migrationWarnings(migrations), ...(await editWarnings(at, baseId, edits))]
    return { ...found, edits, located, warnings }
  }
  const write = async (within: WriteScope, planned: PreparedPromotion) => {
    const done = await apply(within, baseId, from, planned, { isForced: force, located: planned.located })
    if (planning) await requireApproval(planning, withoutSecrets(done), planned.edits, force)
    await also?.(within, done)
    return done
  }
  const lock = (within: WriteScope, base: string) =>
    base === from ? lockForPromotion(within, base).catch(atFrom) : lockForPromotion(within, base)
  return changeOptimistically(unplanned, [baseId, from], plan, write, lock)
}

type PreparedPromotion = Omit<Comparison, 'edits'> & {
  readonly edits: readonly Prepared<PromotionEdit>[]
  readonly warnings: readonly string[]
  readonly located: (thrown: unknown, edit: Edit) => unknown
}

/** Rolls back a promotion that a plan has to precede, if it changes anything. */
async function requireApproval(
  planning: Planning,
  promotion: Promotion,
  edits: readonly Prepared<PromotionEdit>[],
  isForced: boolean,
): Promise<void> {
  const state = await digestInTurns(
    edits.map(({ edit: { kind, id, before, after } }) => [kind.name, id, before, after]),
  )
  planning.checkApproval(edits.length > 0, () => {
    const what = planSentence(promotion, isForced)
    return { state, what, plan: { what, promotion } }
  })
}

async function apply(
  within: WriteScope,
  baseId: string,
  from: string,
  { edits, conflicts, forkPoints, kept, warnings }: PreparedPromotion,
  options: Parameters<typeof applyEdits>[3],
): Promise<Promotion> {
  const { db } = within
  const id = uuidv7()
  await setCause(db, id)
  const { secrets, recordsRewritten } = await applyEdits(within, baseId, edits, options)
  await moveFork(db, from, forkPoints)
  const past = edits.map(({ edit }) => edit)
  const entry = { id, baseId, kind: 'promotion', fromBase: from, edits: past, conflicts } as const
  const done = past.length > 0 ? await storePromotion(within, entry) : nothingPromoted(within, entry)
  return { ...done, ...nonEmpty({ kept, recordsRewritten, secrets, warnings }) }
}

/** The promotion as a plan shows it, whose secrets are rolled back with it. */
const withoutSecrets = ({ secrets: _, ...promotion }: Promotion): Promotion => promotion

const hasRevision = () =>
  invalid({
    path: '/hash',
    code: 'exclusive',
    message: 'A change-set has no hash. Send the revision that was looked at in its place.',
  })

function changedSince(from: string): DomainError {
  const message = `"${from}" has changed since. Read its proposal again, and send the hash of that.`
  return oneFault('CONFLICT', message, { path: '/hash', code: 'hash_mismatch' })
}

function onBothSides(conflicts: readonly Conflict[]): DomainError {
  const message = (each: Conflict) =>
    `${each.kind} "${each.id}" was changed in production too. Make the change of production in the preview, or send force to replace it.`
  return new DomainError(
    'CONFLICT',
    `${conflicts.length === 1 ? '1 resource was' : `${conflicts.length} resources were`} changed in production and in the preview. Nothing was promoted.`,
    {
      details: conflicts.map((each) => ({
        path: `/${each.kind}/${each.id}`,
        code: 'changed_on_both_sides',
        message: message(each),
        samples: [{ production: each.production, preview: each.preview }],
      })),
    },
  )
}

// The one sentence that a person is asked about a promotion.

/** What a plan names first: what takes most from production. */
const ORDER: readonly ShownEdit['op'][] = ['delete', 'update', 'create']

/**
 * `Promotes 3 changes from crm--dev to crm: delete record_type old with its data, update record_type deal (rewrites
 * records), update endpoint desk (replaces a change of production).` Numbers of records are beside it: they change while
 * a person reads.
 */
function planSentence(
  { from, baseId, changes, conflicts, recordsRewritten = {} }: Promotion,
  isForced: boolean,
): string {
  const overridden = new Set(conflicts.map(({ kind, id }) => `${kind} ${id}`))
  const about = ({ kind, id, op }: ShownEdit) => {
    const isRewritten =
      kind === 'record_type' && Object.hasOwn(recordsRewritten, id) && recordsRewritten[id] !== 0
    const notes = [
      ...(isRewritten ? ['rewrites records'] : []),
      ...(overridden.has(`${kind} ${id}`) ? ['replaces a change of production'] : []),
    ]
    const data = op === 'delete' && isForced && kindNamed(kind).takesConfirm ? ' with its data' : ''
    return {
      text: `${op} ${kind} ${id}${data}${notes.length > 0 ? ` (${notes.join(', ')})` : ''}`,
      op,
      notes,
    }
  }
  const all = changes.map(about)
  const weight = ({ op, notes }: (typeof all)[number]) => ORDER.indexOf(op) * 2 + (notes.length > 0 ? 0 : 1)
  const named = all
    .sort((one, other) => weight(one) - weight(other))
    .slice(0, LIMITS.promotionNamed)
    .map(({ text }) => text)
  const more = changes.length > named.length ? ', …' : ''
  const many = `${changes.length} change${changes.length === 1 ? '' : 's'}`
  return `Promotes ${many} from ${from} to ${baseId}: ${named.join(', ')}${more}.`
}
