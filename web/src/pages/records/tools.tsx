/** Around a list: the order, the columns, the chart, the time that it is of, and the search of words. */
import { useEffect, useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { itemsOf, Menu } from '../../parts/menu.tsx'
import { fieldsOf, searchOf, stateField } from '../../parts/record-types.ts'
import { DAY, fieldName, HOUR, shortTime, startOfDay, Text, timeNow } from '../../parts/text.tsx'
import { words } from '../../words.ts'
import { columnNames, shownColumns } from './columns.tsx'
import { useLinks } from './list.tsx'
import type { Listing } from './load.ts'

export function Tools({ of: { base, type, search, sort, change } }: { of: Listing }) {
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
        items={itemsOf(sorts, (each) => change({ sort: each }), { is: sort })}
      />
      <Menu
        className="quiet wide-only"
        icon="columns"
        label={words.records.columns}
        items={all.map((name) => ({
          label: fieldName(name.replace('~', '')),
          isOn: columns.includes(name),
          onSelect: () =>
            change(
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
          onClick={() => change({ chart: search['chart'] ? undefined : state.name })}
        />
      )}
    </div>
  )
}

export function AsOf({ of: { asOf, change } }: { of: Listing }) {
  const today = startOfDay(timeNow())
  const { asOfNow, moments: at } = words.records
  const moments = [
    [timeNow() - HOUR, at.hour],
    [today, at.today],
    [today - DAY, at.yesterday],
    [today - 7 * DAY, at.week],
  ] as const
  const choose = (time: number | string) => change({ as_of: new Date(time).toISOString() })
  return (
    <Menu
      className={asOf === undefined ? 'quiet wide-only' : 'quiet past-time'}
      icon="clock"
      label={asOf === undefined ? asOfNow : words.records.asOf(shortTime(Date.parse(asOf)))}
      items={[
        { label: asOfNow, isOn: asOf === undefined, onSelect: () => change({ as_of: undefined }) },
        ...itemsOf(
          moments.map(([ms, label]) => [ms, label, shortTime(ms)]),
          choose,
        ),
      ]}
    >
      <label className="moment">
        {at.other}
        <input
          type="datetime-local"
          onKeyDown={(event) => {
            const { value } = event.currentTarget
            if (event.key === 'Enter' && value !== '') choose(value)
          }}
        />
      </label>
    </Menu>
  )
}

const PAUSE_MS = 250

/** Searches while one types where an index makes it quick, else on Enter. */
export function QuickSearch({ of: { type, search, change } }: { of: Listing }) {
  const { q = '' } = search
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
      () => change({ q: typed.trim() || undefined, view: undefined }, q !== ''),
      PAUSE_MS,
    )
    return () => clearTimeout(wait)
  }, [isQuick, typed, q, change])
  return (
    <search>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          change({ q: typed.trim() || undefined })
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
