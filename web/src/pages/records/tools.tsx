/** Above the grid: conditions as chips, the search of words, the order, the columns, and the chart. */
import { type FormEvent, useEffect, useState } from 'react'
import type { Search } from '../../addresses.ts'
import type { Json, RecordType } from '../../api/shapes.ts'
import { Icon } from '../../parts/icon.tsx'
import { Input } from '../../parts/input.tsx'
import { Menu } from '../../parts/menu.tsx'
import { Text } from '../../parts/plain-text.tsx'
import { type Field, fieldsOf, searchOf, stateField } from '../../parts/record-types.ts'
import type { Change } from '../../parts/search.ts'
import { cut, fieldName } from '../../parts/text.ts'
import { words } from '../../words.ts'
import { columnNames, shownColumns } from './columns.tsx'
import { type Condition, opsOf, shownOf, takesValue, typedOf } from './filter.ts'
import { useLinks } from './list.tsx'

const VALUE_CHARS = 40
const opWord = (op: string) => words.records.ops[op as keyof typeof words.records.ops] ?? op

type ConditionsProps = {
  type: RecordType
  conditions: readonly Condition[]
  onChange: (conditions: Condition[]) => void
}

export function Conditions({ type, conditions, onChange }: ConditionsProps) {
  const [adding, setAdding] = useState<Field>()
  return (
    <>
      {conditions.map((condition, at) => {
        const [field, op, value] = condition
        const shown = value === undefined ? '' : [shownOf(op, value)].flat().map(String).join(', ')
        return (
          <span key={JSON.stringify(condition)} className="filter-chip">
            <span className="meta">
              <Text>{fieldName(field)}</Text>
            </span>
            <span className="meta">{opWord(op)}</span>
            {shown !== '' && (
              <span>
                <Text>{cut(shown, VALUE_CHARS).text}</Text>
              </span>
            )}
            <button
              type="button"
              className="quiet"
              aria-label={words.records.removeCondition(fieldName(field))}
              onClick={() => onChange(conditions.filter((_, each) => each !== at))}
            >
              <Icon name="close" />
            </button>
          </span>
        )
      })}
      {adding && (
        <Adding
          field={adding}
          onAdd={(condition) => {
            setAdding(undefined)
            onChange([...conditions, condition])
          }}
          onCancel={() => setAdding(undefined)}
        />
      )}
      <Menu
        label={
          <>
            <Icon name="filter" /> {words.records.filter}
          </>
        }
        items={fieldsOf(type).map((field) => ({
          label: fieldName(field.path),
          onSelect: () => setAdding(field),
        }))}
      />
    </>
  )
}

/** A condition in the making: an operator of the field, and a value by its schema. */
function Adding({
  field,
  onAdd,
  onCancel,
}: {
  field: Field
  onAdd: (condition: Condition) => void
  onCancel: () => void
}) {
  const ops = opsOf(field)
  const [op, setOp] = useState(ops[0] ?? 'eq')
  const [value, setValue] = useState<Json | undefined>(field.values?.[0])
  const name = fieldName(field.path)
  const schema = op === 'has' ? (field.schema.items ?? {}) : { ...field.schema, maxLength: 0 }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!takesValue(op)) onAdd([field.path, op])
    else if (value !== undefined) onAdd([field.path, op, typedOf(op, value)])
  }
  return (
    <form
      className="adding"
      aria-label={words.records.filter}
      onSubmit={submit}
      onKeyDown={({ key }) => key === 'Escape' && onCancel()}
    >
      <span className="meta">
        <Text>{name}</Text>
      </span>
      <select aria-label={words.records.operator} value={op} onChange={({ target }) => setOp(target.value)}>
        {ops.map((each) => (
          <option key={each} value={each}>
            {opWord(each)}
          </option>
        ))}
      </select>
      {takesValue(op) && (
        <>
          <label htmlFor="condition" className="hidden">
            {name}
          </label>
          <Input id="condition" schema={schema} value={value} onChange={setValue} />
        </>
      )}
      <button type="submit">{words.records.add}</button>
    </form>
  )
}

type ToolsProps = { base: string; type: RecordType; search: Search; sort: string; onChange: Change }

export function Tools({ base, type, search, sort, onChange }: ToolsProps) {
  const links = useLinks(base, type.id)
  const columns = shownColumns(type, links, search['cols'], false)
  const all = columnNames(type, links)
  const state = stateField(type) ?? fieldsOf(type).find(({ isState }) => isState)
  const sorts: [string, string][] = [
    ['-updated_at', words.records.sorts.newest],
    ['updated_at', words.records.sorts.oldest],
    ['-created_at', words.records.sorts.made],
    ...fieldsOf(type)
      .slice(0, 8)
      .flatMap(({ path }): [string, string][] => [
        [path, `${fieldName(path)} ↑`],
        [`-${path}`, `${fieldName(path)} ↓`],
      ]),
  ]
  const chosen =
    sorts.find(([each]) => each === sort)?.[1] ??
    (sort === '' ? words.records.sorts.best : fieldName(sort.replace('-', '')))
  return (
    <div className="tools">
      <Menu
        label={
          <>
            <Icon name="sort" /> <Text>{chosen}</Text>
          </>
        }
        name={`${words.records.sort}: ${chosen}`}
        items={sorts.map(([each, label]) => ({
          label,
          isOn: each === sort,
          onSelect: () => onChange({ sort: each }),
        }))}
      />
      <Menu
        className="quiet wide-only"
        label={
          <>
            <Icon name="columns" /> {words.records.columns}
          </>
        }
        items={all.map((name) => ({
          label: fieldName(name.replace('~', '')),
          isOn: columns.includes(name),
          onSelect: () =>
            onChange(
              { cols: all.filter((each) => columns.includes(each) !== (each === name)).join(',') },
              true,
            ),
        }))}
      />
      {state && (
        <button
          type="button"
          className="quiet"
          aria-pressed={search['chart'] !== undefined}
          onClick={() => onChange({ chart: search['chart'] ? undefined : state.name })}
        >
          <Icon name="chart" /> {words.records.chart}
        </button>
      )}
    </div>
  )
}

const PAUSE_MS = 250

/** Searches while one types where an index makes it quick, else on Enter. */
export function QuickSearch({ type, q, onChange }: { type: RecordType; q: string; onChange: Change }) {
  const [typed, setTyped] = useState(q)
  const [of, setOf] = useState(q)
  if (of !== q) {
    setOf(q)
    if (typed.trim() !== q) setTyped(q)
  }
  const isQuick = searchOf(type) !== undefined
  useEffect(() => {
    if (!isQuick || typed.trim() === q) return
    const wait = setTimeout(
      () => onChange({ q: typed.trim() || undefined, view: undefined }, q !== ''),
      PAUSE_MS,
    )
    return () => clearTimeout(wait)
  }, [isQuick, typed, q, onChange])
  return (
    <search>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          onChange({ q: typed.trim() || undefined })
        }}
      >
        <input
          type="search"
          data-key="/"
          aria-label={words.records.search}
          placeholder={isQuick ? words.records.search : words.records.searchOnEnter}
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
        />
      </form>
    </search>
  )
}
