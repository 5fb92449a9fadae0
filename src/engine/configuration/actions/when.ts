/** The condition of a step: the filter language over `input.…` and `steps.…`. */
import { isOperator } from '../../../contract/operators.ts'
import { invalid } from '../../../foundation/errors.ts'
import { isObject } from '../../../foundation/is-object.ts'
import { usesSearch } from '../../data/filter/compile.ts'
import { type Fields, parseFilter } from '../../data/filter/parse.ts'
import type { Condition, Filter } from '../../data/filter/syntax-tree.ts'
import { readField } from '../../schema/compiled-types/field-path.ts'
import { holdsTemplate } from '../../schema/templates/parse.ts'

/** Its fields are paths: from `input`, or from `steps` and the name of a step. */
export type When = Filter<never>

const FIELDS: Fields<never> = {
  read: (text, at) => {
    if (typeof text === 'string' && /^input[.[]|^steps\./.test(text)) return readField(`data.${text}`, at, [])
    throw invalid({
      path: at,
      code: 'unknown_field',
      message:
        'A condition of a step reads the input or an earlier step. Write "input.amount" or "steps.found.data[0].id".',
      received: typeof text === 'string' ? text.slice(0, 64) : text,
    })
  },
  types: {},
}

/**
 * Parses a condition.
 * @throws VALIDATION_ERROR below `at`
 */
export function parseWhen(raw: unknown, at: string): When {
  const condition = parseFilter(raw, at, FIELDS)
  if (!usesSearch(condition)) return condition
  throw invalid({
    path: at,
    code: 'unsupported',
    message: '"search" cannot be used in the condition of a step. Use "ilike".',
  })
}

/** The condition with something else in place of each part whose value holds templates. Nothing but values may hold them. */
export function mapTemplated(node: unknown, put: (part: Record<string, unknown>) => unknown): unknown {
  if (Array.isArray(node)) return node.map((each) => mapTemplated(each, put))
  if (!isObject(node)) return node
  if (holdsTemplate(node['value'])) return put(node)
  return Object.fromEntries(Object.entries(node).map(([key, each]) => [key, mapTemplated(each, put)]))
}

/** Parses a condition whose values are not known yet. @throws VALIDATION_ERROR */
export const parseUnfilledWhen = (raw: unknown, at: string): When =>
  parseWhen(
    mapTemplated(raw, ({ value, ...part }) =>
      isOperator(part['op']) && part['op'] !== 'search' ? { ...part, op: 'is_not_null' } : { ...part, value },
    ),
    at,
  )

/** The conditions of a filter. */
export function conditionsOf(filter: When): Condition<never>[] {
  if (filter.kind === 'condition') return [filter]
  if (filter.kind === 'linked') return []
  return filter.kind === 'not' ? conditionsOf(filter.of) : filter.of.flatMap(conditionsOf)
}
