/** Shows what promoting a change-set would change in production, and what conflicts. Changes nothing, and locks nothing. */
import type { z } from 'zod'
import type { ProposalBody } from '../../../contract/config-shapes.ts'
import type { Detail } from '../../../foundation/errors.ts'
import { DomainError } from '../../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { requireType } from '../../configuration/record-types/index.ts'
import { changeSetState } from '../../core/change-set/state.ts'
import { requireExistingBase } from '../../core/existing-base.ts'
import type { Scope } from '../../core/scope.ts'
import { requestChecks } from '../../core/write/write.ts'
import { type ShownEdit, shownDraft, summaryOf } from '../edits.ts'
import type { Proposal } from '../proposal.ts'
import { type Draft, nameOf, readDrafts, typesOf } from './drafts.ts'
import { type Merged, mergeDrafts } from './merge.ts'
import { openResolutions, selectDrafts } from './selection.ts'

/**
 * Compares the drafts of a change-set with production, as far as the caller may read both.
 * @throws FORBIDDEN; VALIDATION_ERROR; NOT_FOUND
 */
export async function proposeChangeSet(
  scope: Scope,
  baseId: string,
  { from, resources, resolve }: z.output<typeof ProposalBody>,
): Promise<Proposal> {
  await requireExistingBase(scope, baseId)
  await requireExistingBase(scope, from)
  const mayRead = (type: string) => [baseId, from].every((each) => scope.access.allows('read', each, type))
  const visible = (await readDrafts(scope.db, from)).filter((draft) => typesOf(draft).every(mayRead))
  const selected = selectDrafts(visible, resources)
  const { merged, conflicts } = await mergeDrafts(selected, openResolutions(resolve, false).of)
  const changes: ShownEdit[] = []
  for (const draft of selected) {
    if (turnIsOver()) await nextTurn()
    const { kind, base, preview } = draft
    changes.push(await shownDraft(scope, baseId, { kind, id: nameOf(draft), before: base, after: preview }))
  }
  const state = await changeSetState(scope, from)
  return {
    ...{ from, baseId, changes, summary: summaryOf(changes), conflicts },
    breaks: await breaksOf(scope, baseId, merged),
    ...(state && { revision: state.revision }),
  }
}

/** What the schemas of production refuse now. */
async function breaksOf(scope: Scope, baseId: string, merged: readonly Merged[]): Promise<Detail[]> {
  const breaks: Detail[] = []
  const checks = requestChecks()
  for (const [recordType, ofType] of Map.groupBy(merged.filter(isWritten), ({ draft }) => draft.type)) {
    const type = await requireType(scope, baseId, recordType).catch(typeGone)
    for (const { draft, after } of ofType) {
      if (turnIsOver()) await nextTurn()
      if (type) breaks.push(...type.schema.validate(after?.data, `/${nameOf(draft)}/data`, checks))
      else breaks.push(goneOf(draft))
    }
  }
  return breaks
}

const isWritten = ({ draft, after }: Merged) => draft.kind === 'record' && after !== null

function typeGone(thrown: unknown): undefined {
  if (thrown instanceof DomainError && thrown.details[0]?.code === 'record_type_not_found') return undefined
  throw thrown
}

const goneOf = (draft: Draft): Detail => ({
  path: `/${nameOf(draft)}`,
  code: 'type_gone',
  message: `Production has no record type "${draft.type}" any more. Discard the change, or create the type again.`,
})
