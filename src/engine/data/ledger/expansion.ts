import { isTypeId } from '../../../contract/ids.ts'
import { invalid } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'

/** One step along a relationship type: to its target, or, if incoming, to its source. */
export type ExpandStep = {
  relType: string
  incoming: boolean
  /** Whether titles take the place of the records. Only the last step of a path can. */
  asTitle: boolean
}

/** Linked records by step, such as `owner` or `~member`; or attachments. */
export type Expansion = {
  _expanded: Record<string, object[]>
  /** Steps with more links than shown. */
  _expanded_truncated?: string[]
}

/**
 * Parses paths such as `owner.company`, `~member` or `owner:title`, at most 3 levels each.
 * @throws VALIDATION_ERROR
 */
export function parseExpand(raw: readonly string[], at: string): readonly (readonly ExpandStep[])[] {
  if (raw.length === 0 || raw.length > LIMITS.expandPaths)
    throw invalid({
      path: at,
      code: 'out_of_range',
      message: `expand must name 1 to ${LIMITS.expandPaths} paths of relationship types.`,
    })
  return raw.map((path) => {
    const steps = path.split('.').map((step, n, all) => readStep(step, at, n === all.length - 1))
    if (steps.length <= LIMITS.expandLevels) return steps
    throw invalid({
      path: at,
      code: 'too_deep',
      message: `expand can follow at most ${LIMITS.expandLevels} levels. Read the others with another query.`,
      received: path.slice(0, 128),
      hint: path.split('.').slice(0, LIMITS.expandLevels).join('.'),
    })
  })
}

const AS_TITLE = ':title'

function readStep(step: string, at: string, isLast: boolean): ExpandStep {
  const incoming = step.startsWith('~')
  const asTitle = isLast && step.endsWith(AS_TITLE)
  const relType = step.slice(incoming ? 1 : 0, asTitle ? -AS_TITLE.length : undefined)
  if (isTypeId(relType)) return { relType, incoming, asTitle }
  throw invalid({
    path: at,
    code: 'invalid_expand',
    message:
      'expand must be a relationship type, "~" before it for the incoming ones, "." between levels, ":title" at the end for titles in place of records: "owner.company,~member:title".',
    received: step.slice(0, 64),
  })
}

export const expandsPast = () =>
  invalid({
    path: '/expand',
    code: 'exclusive',
    message: 'expand works on the current state only. Leave out expand, or the version or time.',
  })
