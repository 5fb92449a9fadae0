/** The trace of a change: what caused it, and what it set off. */

import { invalid } from '../../../../foundation/errors.ts'
import { LIMITS } from '../../../../foundation/limits.ts'
import { type Scope, viewerOf } from '../../../core/scope.ts'
import { type Change, callFor } from '../../../log/entry.ts'
import { requireBaseAccess } from '../../../storage/access/access.ts'
import { findChange } from '../../revert.ts'
import { causesOf } from './causes.ts'
import { effectsOf } from './effects.ts'
import type { TraceStep } from './step.ts'

export type ChangeTrace = {
  change: Change
  /** Back to the request, the nearest first. */
  causes: readonly TraceStep[]
  /** What followed, the nearest first. */
  effects: readonly TraceStep[]
  /** There are more steps, or they are farther. */
  truncated: boolean
}

/**
 * Traces a change back and forward, as far as the caller sees the steps.
 * @throws FORBIDDEN without a grant on the base; NOT_FOUND; VALIDATION_ERROR
 */
export async function traceChange(
  scope: Scope,
  baseId: string,
  seq: number,
  depth: number = LIMITS.traceDepth,
): Promise<ChangeTrace> {
  requireBaseAccess(scope.access, baseId)
  if (!Number.isInteger(depth) || depth < 1 || depth > LIMITS.traceDepth) throw outOfRange(depth)
  const change = await findChange(scope, baseId, seq)
  const causes = await causesOf(scope, baseId, change, depth)
  const effects = await effectsOf(scope, baseId, seq, depth)
  return {
    change: callFor(viewerOf(scope), baseId, change),
    causes: causes.steps,
    effects: effects.steps,
    truncated: causes.isCut || effects.isCut,
  }
}

const outOfRange = (depth: number) =>
  invalid({
    path: '/depth',
    code: 'out_of_range',
    message: `depth must be a whole number from 1 to ${LIMITS.traceDepth}.`,
    received: depth,
  })
