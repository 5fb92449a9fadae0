import { LIMITS } from '../../../../foundation/limits.ts'
import { own } from '../../../../foundation/own.ts'
import { GRAMMAR, type Grammar, type Rule } from './grammar.ts'
import { hintForField, hintForNode } from './hints.ts'
import type { Source } from './source-map.ts'

type Fields = Readonly<Record<string, unknown>>
const READS = { kind: 'SelectStmt', grammar: GRAMMAR }

/**
 * Checks a tree against the grammar, node by node and field by field; later steps rely on its types. Returns
 * the distinct relation names in FROM.
 * @throws VALIDATION_ERROR at the first disallowed part
 */
export function checkStructure(
  statement: object,
  source: Source,
  { kind: outermost, grammar }: { kind: string; grammar: Grammar } = READS,
): ReadonlySet<string> {
  const relations = new Set<string>()
  const node = (value: unknown, location: number | undefined, depth: number): void => {
    const entries = Object.entries(value as Fields)
    // PostgreSQL's lists can have empty entries: missing column definitions of a function, the missing list
    // of DISTINCT.
    if (entries.length === 0) return
    const [[kind, fields] = ['']] = entries
    part(kind, fields, location, depth)
  }
  const part = (kind: string, value: unknown, outer: number | undefined, depth: number): void => {
    const fields = value as Fields
    const location = typeof fields['location'] === 'number' ? fields['location'] : outer
    const rules = own(grammar, kind)
    if (!rules) throw source.fault('unsupported', hintForNode(kind), location)
    if (depth > LIMITS.sqlDepth) {
      const message = `A statement nests at most ${LIMITS.sqlDepth} deep. Write it flatter, with WITH or lists.`
      throw source.fault('too_deep', message, location)
    }
    if (kind === 'RangeVar' && relations.size <= LIMITS.sqlRelations)
      relations.add(String(fields['relname'] ?? ''))
    for (const [name, child] of Object.entries(fields)) {
      const rule = own(rules, name)
      if (!rule || !isPlain(rule, child))
        throw source.fault('unsupported', hintForField(kind, name), location)
      if (rule === 'node') node(child, location, depth + 1)
      else if (rule === 'nodes') for (const each of child as unknown[]) node(each, location, depth + 1)
      else if (typeof rule === 'object' && 'of' in rule) part(rule.of, child, location, depth + 1)
    }
  }
  part(outermost, statement, undefined, 0)
  return relations
}

/** Whether a value satisfies the rule; the walk checks child nodes. */
function isPlain(rule: Rule, value: unknown): boolean {
  if (rule === 'string') return typeof value === 'string'
  if (rule === 'integer') return Number.isInteger(value)
  if (rule === 'flag') return value === true
  if (rule === 'nodes') return Array.isArray(value)
  if (rule !== 'node' && !('of' in rule)) return rule.includes(value as string)
  return typeof value === 'object' && value !== null
}
