/** The one sentence that a person is asked about a promotion. */
import { kindNamed } from '../configuration/kinds.ts'
import type { ShownEdit } from './edits.ts'
import type { Promotion } from './promotion.ts'

const NAMED_IN_PLAN = 5
/** What a plan names first: what takes most from production. */
const ORDER: readonly ShownEdit['op'][] = ['delete', 'update', 'create']

/**
 * `Promotes 3 changes from crm--dev to crm: delete record_type old with its data, update record_type deal (rewrites
 * records), update endpoint desk (replaces a change of production).` Numbers of records are beside it: they change while
 * a person reads.
 */
export function planSentence(
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
    .slice(0, NAMED_IN_PLAN)
    .map(({ text }) => text)
  const more = changes.length > named.length ? ', …' : ''
  const many = `${changes.length} change${changes.length === 1 ? '' : 's'}`
  return `Promotes ${many} from ${from} to ${baseId}: ${named.join(', ')}${more}.`
}
