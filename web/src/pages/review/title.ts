/** What a proposal is called, in the words of the page: names of agents stand in their own places. */
import type { RecordType } from '../../api/shapes.ts'
import { kindName, shortName, sizeOf } from '../../parts/proposal.ts'
import { nameOf, plural, pluralOf } from '../../parts/record-types.ts'
import { words } from '../../words.ts'
import type { Edit, Item, Proposal } from './load.ts'

/** The name of what an edit changes. A new one has it in its definition. */
export function nameOfEdit(
  { kind, id, diff }: Pick<Edit, 'kind' | 'id' | 'diff'>,
  types: readonly RecordType[],
) {
  const made = diff.find(({ path }) => path === '')?.value
  const name = made !== null && typeof made === 'object' && !Array.isArray(made) ? made?.['name'] : undefined
  if (kind !== 'record_type') return typeof name === 'string' && name !== '' ? name : id
  const type = types.find((each) => each.id === id)
  return type ? pluralOf(type) : plural(nameOf(undefined, typeof name === 'string' ? name : id))
}

export function titleOf(item: Item, proposal: Proposal | undefined, types: readonly RecordType[]): string {
  if (item.from === undefined) return item.request?.title ?? item.id
  const changes = proposal?.changes ?? []
  if (item.set) return item.request?.title ?? item.set.title ?? words.review.titles.records(sizeOf(item.set))
  const changed = changes.find(({ kind, op }) => kind === 'record_type' && op === 'update')
  if (changed) return words.review.titles.changed(nameOfEdit(changed, types).toLowerCase())
  const [only] = changes
  if (only && changes.length === 1)
    return words.review.titles[only.op](kindName(only.kind), nameOfEdit(only, types))
  return words.review.titles.promote(shortName(item.from))
}
