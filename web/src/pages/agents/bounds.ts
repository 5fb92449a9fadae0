/** What a selection of tools lets its callers see and do, in sentences. */
import type { RecordType, Selection } from '../../api/shapes.ts'
import { filterWords, isFilter } from '../../parts/filter-words.ts'
import { nameOf, plural, pluralOf } from '../../parts/record-types.ts'
import { fieldName } from '../../parts/text.ts'
import { words } from '../../words.ts'

export function boundsOf(selection: Selection, type: RecordType | undefined): string[] {
  const { record_type: id, operations, fields, filter, write_filter: written, defaults = {} } = selection
  const name = (type ? pluralOf(type) : plural(nameOf(type, id))).toLowerCase()
  const known = Object.keys(type?.json_schema.properties ?? {})
  const shown = fields?.map((field) => field.replace(/^data\./, ''))
  const hidden = shown ? known.filter((each) => !shown.includes(each)).map(fieldName) : []
  const text = words.agents.bound
  return [
    text.does(operations.map((each) => text.operations[each] ?? each).join(', '), name),
    ...(isFilter(filter) ? [text.sees(name, filterWords(filter))] : []),
    ...(isFilter(written) ? [text.writes(name, filterWords(written))] : []),
    ...(hidden.length > 0 ? [text.never(hidden.join(', '))] : []),
    ...Object.entries(defaults).map(([field, value]) => text.begins(fieldName(field), String(value))),
  ]
}
