/** What sets something off, and what it then does, in a sentence. */
import type { RecordType } from '../../api/shapes.ts'
import { filterWords, isFilter } from '../../parts/filter-words.ts'
import { nameOf, plural, pluralOf } from '../../parts/record-types.ts'
import { words } from '../../words.ts'
import { type Automatic, hostOf } from './load.ts'

export function saying(row: Automatic, types: readonly RecordType[]): string {
  const many = (id: string) => {
    const type = types.find((each) => each.id === id)
    return (type ? pluralOf(type) : plural(nameOf(undefined, id))).toLowerCase()
  }
  const text = words.automation.says
  if (row.kind === 'inbound_webhook') return text.makes(many(row.is.record_type))
  if (row.kind === 'action') return row.is.description ?? text.steps(row.is.steps.length)
  if (row.kind === 'source') return text.source(pluralOf(row.is.type).toLowerCase(), row.is.host)
  const { events, record_types: ids, condition, url, action } = row.is
  const when = text.when(
    events.map((event) => words.verbs[event as keyof typeof words.verbs] ?? event),
    ids.length === 0 ? text.anything : ids.map(many).join(', '),
    isFilter(condition) ? filterWords(condition) : undefined,
  )
  return `${when} ${url === null ? text.runs(action ?? '') : text.calls(hostOf(url))}`
}
