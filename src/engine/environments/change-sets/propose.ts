/** Shows what promoting a change-set would change in production, and what conflicts. Changes nothing, and locks nothing. */
import type { z } from 'zod'
import type { PromoteBody } from '../../../contract/config-shapes.ts'
import type { Detail } from '../../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { requireType } from '../../configuration/record-types/index.ts'
import { inChangeSet } from '../../core/change-set/change-set-scope.ts'
import { changeSetState } from '../../core/change-set/state.ts'
import { requireExistingBase } from '../../core/existing-base.ts'
import { policyOn, rightsOf, visibleType } from '../../core/row-policy/apply.ts'
import { seenRecord } from '../../core/row-policy/project-data.ts'
import type { Scope } from '../../core/scope.ts'
import { requestChecks } from '../../core/write/write.ts'
import { duplicatesAmong } from '../../data/indexes/index.ts'
import { idsWithin } from '../../records/query/policy-read.ts'
import { statement } from '../../storage/database/client.ts'
import { shownDrafts, summaryOf } from '../edits.ts'
import type { Proposal } from '../promotion.ts'
import { asEdit, type Draft, nameOf, readDrafts, readSeenDrafts, typeIfThere, typesOf } from './drafts.ts'
import { type Merged, mergeDrafts } from './merge.ts'
import { grownDeletions, missingEnds, taken } from './obstacles.ts'
import { openResolutions, selectDrafts } from './selection.ts'

/**
 * Compares the drafts of a change-set with production, as far as the caller may read both.
 * @throws FORBIDDEN; VALIDATION_ERROR; NOT_FOUND
 */
export async function proposeChangeSet(
  scope: Scope,
  baseId: string,
  { from, resources, resolve }: Pick<z.output<typeof PromoteBody>, 'from' | 'resources' | 'resolve'>,
): Promise<Proposal> {
  if (scope.proposal) return boundedProposal(scope, baseId, from)
  await requireExistingBase(scope, baseId)
  await requireExistingBase(scope, from)
  const selected = selectDrafts(await readSeenDrafts(scope, from), resources)
  const resolutions = openResolutions(resolve, false)
  const { merged, conflicts } = await mergeDrafts(selected, resolutions)
  const changes = await shownDrafts(scope, baseId, selected.map(asEdit))
  const state = await changeSetState(scope, from)
  return {
    ...{ from, baseId, changes, summary: summaryOf(changes) },
    conflicts: conflicts.map(({ values: _, ...conflict }) => conflict),
    breaks: [
      ...(await breaksOf(scope, baseId, merged)),
      ...(await taken(scope.db, { baseId, from }, merged)),
      ...(await crowdedOf(scope, from, merged)),
      ...(await missingEnds(scope.db, baseId, merged)),
      ...(await grownDeletions(scope.db, baseId, merged, resolutions)),
    ],
    ...(state && { revision: state.revision }),
  }
}

/** At an endpoint: what it shows of what its caller has proposed, and nothing of what production has beside that. */
async function boundedProposal(scope: Scope, baseId: string, from: string): Promise<Proposal> {
  const changes = await shownDrafts(scope, baseId, (await boundedDrafts(scope, baseId, from)).map(asEdit))
  return { ...{ from, baseId, changes, summary: summaryOf(changes) }, conflicts: [], breaks: [] }
}

// The links `$2` of a change-set at whose ends another one of production has the only place; `$3` are those that it changes along.
const CROWDED = statement(
  'drafted_links_without_place',
  `SELECT DISTINCT d.id FROM plinth.draft_relationship d CROSS JOIN LATERAL (
     (SELECT id FROM plinth.relationship
      WHERE d.one_target AND one_target AND source_row = d.source_row AND rel_type = d.rel_type LIMIT 1)
     UNION ALL
     (SELECT id FROM plinth.relationship
      WHERE d.one_source AND one_source AND target_row = d.target_row AND rel_type = d.rel_type LIMIT 1)) x
   WHERE d.branch = $1 AND d.id = ANY ($2::text[]) AND NOT d.gone AND x.id NOT IN (SELECT unnest($3::text[])) ORDER BY 1`,
)

/** What the cardinalities of production refuse now. */
async function crowdedOf({ db }: Scope, from: string, merged: readonly Merged[]): Promise<Detail[]> {
  const links = merged.filter(({ draft }) => draft.kind === 'relationship')
  if (links.length === 0) return []
  const ids = links.map(({ draft }) => draft.id)
  const written = links.flatMap(({ draft, after }) => (after ? draft.id : []))
  const crowded = await db.query<{ id: string }>(CROWDED, [from, written, ids])
  return crowded.map(({ id }) => ({
    path: `/${id}`,
    code: 'cardinality',
    message:
      'An end of this relationship has the one relationship of its type that it may have. Discard the change, or delete the other one.',
  }))
}

/** What the schemas and the unique indexes of production refuse now. */
async function breaksOf(scope: Scope, baseId: string, merged: readonly Merged[]): Promise<Detail[]> {
  const breaks: Detail[] = []
  const checks = requestChecks()
  const records = merged.filter(({ draft }) => draft.kind === 'record')
  for (const [recordType, ofType] of Map.groupBy(records, ({ draft }) => draft.type)) {
    const written = ofType.filter(({ after }) => after !== null)
    if (written.length === 0) continue
    const type = await typeIfThere(scope, baseId, recordType)
    for (const { draft, after } of written) {
      if (turnIsOver()) await nextTurn()
      if (type) breaks.push(...type.schema.validate(after?.data, `/${nameOf(draft)}/data`, checks))
      else breaks.push(goneOf(draft))
    }
    const becoming = ofType.map(({ draft: { id }, after }) => ({ id, after }))
    const duplicates = type ? await duplicatesAmong(scope.db, type, becoming) : []
    for (const { id, detail } of duplicates)
      breaks.push({ ...detail, path: `/${nameOf({ kind: 'record', type: recordType, id })}${detail.path}` })
  }
  return breaks
}

const goneOf = (draft: Draft): Detail => ({
  path: `/${nameOf(draft)}`,
  code: 'type_gone',
  message: `Production has no record type "${draft.type}" any more. Discard the change, or create the type again.`,
})

/**
 * Under a row filter a record is shown that matches it on both sides, as far as they exist. What production had at an earlier
 * time is out of reach there, as the past of a record is.
 */
async function boundedDrafts(scope: Scope, baseId: string, from: string): Promise<Draft[]> {
  const within = await inChangeSet(scope, from)
  const rights = rightsOf(within)
  const allowed = (await readDrafts(scope.db, from)).filter((draft) =>
    typesOf(draft).every(
      (type) =>
        rights.allows('read', baseId, type) &&
        (draft.kind === 'record' || policyOn(within, baseId, type) === undefined),
    ),
  )
  const shown: Draft[] = []
  for (const [of, drafts] of Map.groupBy(allowed, ({ kind, type }) => (kind === 'record' ? type : ''))) {
    const policy = of === '' ? undefined : policyOn(within, baseId, of)
    const filter = policy?.filter ?? null
    if (filter === null) shown.push(...drafts.map((draft) => seenBy(policy, draft)))
    else {
      const type = visibleType(policy, await requireType(within, baseId, of))
      const ids = drafts.map(({ id }) => id)
      const [now, then] = [within, scope].map(
        async (side) => new Set(await idsWithin(side, filter, type, ids)),
      )
      const [after, before] = [await now, await then]
      const isShown = ({ id, base, preview, production }: Draft) =>
        (preview === null || after?.has(id) === true) &&
        (base === null ? production === null : production === base && before?.has(id) === true)
      shown.push(...drafts.filter(isShown).map((draft) => seenBy(policy, draft)))
    }
  }
  return shown
}

const seenBy = (policy: Parameters<typeof seenRecord>[0], draft: Draft): Draft => ({
  ...draft,
  base: draft.base && seenRecord(policy, draft.base),
  preview: draft.preview && seenRecord(policy, draft.preview),
})
