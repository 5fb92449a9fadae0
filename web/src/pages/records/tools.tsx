/** Around a list: the order, the columns, the chart, the time that it is of, and the search of words. */
import { useEffect, useState } from 'react'
import type { Search } from '../../addresses.ts'
import type { RecordType } from '../../api/shapes.ts'
import { Button } from '../../parts/button.tsx'
import { Menu } from '../../parts/menu.tsx'
import { fieldsOf, searchOf, stateField } from '../../parts/record-types.ts'
import type { Change } from '../../parts/search.ts'
import { fieldName, Text } from '../../parts/text.tsx'
import { DAY, HOUR, shortTime, startOfDay } from '../../parts/time.tsx'
import { words } from '../../words.ts'
import { columnNames, shownColumns } from './columns.tsx'
import { useLinks } from './list.tsx'

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
    <div className="chips gap-1 end">
      <Menu
        icon="sort"
        label={<Text className="wide-only">{chosen}</Text>}
        name={`${words.records.sort}: ${chosen}`}
        items={sorts.map(([each, label]) => ({
          label,
          isOn: each === sort,
          onSelect: () => onChange({ sort: each }),
        }))}
      />
      <Menu
        className="quiet wide-only"
        icon="columns"
        label={words.records.columns}
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
        <Button
          className="quiet"
          icon="chart"
          label={<span className="wide-only">{words.records.chart}</span>}
          aria-label={words.records.chart}
          aria-pressed={search['chart'] !== undefined}
          onClick={() => onChange({ chart: search['chart'] ? undefined : state.name })}
        />
      )}
    </div>
  )
}

type AsOfProps = { at: string | undefined; onChange: (at: string | undefined) => void }

export function AsOf({ at, onChange }: AsOfProps) {
  const today = startOfDay(Date.now())
  const moments: [string, number][] = [
    [words.records.moments.hour, Date.now() - HOUR],
    [words.records.moments.today, today],
    [words.records.moments.yesterday, today - DAY],
    [words.records.moments.week, today - 7 * DAY],
  ]
  return (
    <Menu
      className={at === undefined ? 'quiet wide-only' : 'quiet past-time'}
      icon="clock"
      label={at === undefined ? words.records.asOfNow : words.records.asOf(shortTime(Date.parse(at)))}
      items={[
        { label: words.records.asOfNow, isOn: at === undefined, onSelect: () => onChange(undefined) },
        ...moments.map(([label, ms]) => ({
          label,
          note: shortTime(ms),
          onSelect: () => onChange(new Date(ms).toISOString()),
        })),
      ]}
    >
      <label className="moment">
        {words.records.moments.other}
        <input
          type="datetime-local"
          onKeyDown={(event) => {
            const { value } = event.currentTarget
            if (event.key === 'Enter' && value !== '') onChange(new Date(value).toISOString())
          }}
        />
      </label>
    </Menu>
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
