/** How many records have each value of a field: day by day, or as bars where the server has no series. */
import type { Json, RecordType } from '../../api/shapes.ts'
import { Chart, Legend, type Series, toneAt } from '../../parts/chart.tsx'
import { pendingOf } from '../../parts/failure.tsx'
import { Menu } from '../../parts/menu.tsx'
import { type Field, fieldsOf, pluralOf } from '../../parts/record-types.ts'
import type { Change } from '../../parts/search.ts'
import { cut, fieldName, whole } from '../../parts/text.tsx'
import { DAY, shortTime } from '../../parts/time.tsx'
import { words } from '../../words.ts'
import { type Group, useGroups } from './load.ts'

const BARS = 24
const DAYS = 30
/** At the end of each day. */
const BY_DAY = { over: { interval: 'day', since: `${DAYS}d` }, limit: 1000 }

type Props = { base: string; type: RecordType; field: string; filter: unknown; onChange: Change }

export function ChartPanel({ base, type, field: name, filter, onChange }: Props) {
  const fields = fieldsOf(type).filter(({ schema }) => schema.type !== 'array' && schema.type !== 'object')
  const field = fields.find((each) => each.name === name)
  const path = `data.${name}`
  const series = useGroups(base, type.id, path, { filter, ...BY_DAY }, field?.isState === true)
  const groups = useGroups(base, type.id, path, { filter, limit: BARS })
  const plural = pluralOf(type)
  const title = words.records.chartOf(plural, fieldName(path))
  const isByDay = series.data !== undefined && series.data.data.length > 0
  const drawn = isByDay
    ? daysOf(series.data.data, path, field)
    : barsOf(groups.data?.data ?? [], path, field, plural)
  return (
    <section className="chart-panel" aria-label={title}>
      <header>
        <h2>{title}</h2>
        {/* Its line is there before its words, so that nothing moves when they arrive. */}
        {field?.isState && (
          <Legend
            series={isByDay ? drawn.series.map((each) => ({ ...each, values: each.values.slice(-1) })) : []}
          />
        )}
        <Menu
          label={words.records.chartBy}
          items={fields.map((each) => ({
            label: fieldName(each.path),
            isOn: each.name === name,
            onSelect: () => onChange({ chart: each.name }, true),
          }))}
        />
      </header>
      {(series.isLoading ? pendingOf(series, 3) : undefined) ?? pendingOf(groups, 3) ?? (
        <Chart title={title} {...drawn} {...(!isByDay && { marks: BARS })} />
      )}
    </section>
  )
}

type Drawn = { labels: string[]; series: Series[] }

const wordOf = (value: Json) => (value === null ? words.empty : cut(String(value), 20).text)
const inOrder = (field: Field | undefined) => (a: Json, b: Json) =>
  (field?.values?.indexOf(a) ?? 0) - (field?.values?.indexOf(b) ?? 0)

function barsOf(groups: readonly Group[], path: string, field: Field | undefined, plural: string): Drawn {
  const order = inOrder(field)
  const bars = groups.map((group) => ({ value: group[path] ?? null, count: group.count }))
  bars.sort((a, b) => order(a.value, b.value))
  return {
    labels: bars.map(({ value, count }) => `${wordOf(value)} ${whole.format(count)}`),
    series: [{ name: plural.toLowerCase(), tone: 'tone-0', values: bars.map(({ count }) => count) }],
  }
}

/** The present, and the ends of the days before it. Days without records have no rows. */
function daysOf(rows: readonly Group[], path: string, field: Field | undefined): Drawn {
  const ends = rows.map(({ at }) => Date.parse(String(at)))
  const now = Math.max(...ends)
  const midnight = Math.max(...ends.filter((end) => end < now))
  const latest = Number.isFinite(midnight) ? midnight : Math.floor(now / DAY) * DAY
  const placeOf = (end: number) => (end === now ? DAYS : DAYS - 1 - Math.round((latest - end) / DAY))
  const labels = Array.from({ length: DAYS }, (_, place) =>
    shortTime(latest - (DAYS - 1 - place) * DAY - DAY / 2),
  )
  const values = [...new Set(rows.map((row) => row[path] ?? null))].sort(inOrder(field))
  const keyOf = (place: number, value: Json) => `${place} ${JSON.stringify(value)}`
  const counts = new Map(rows.map((row, n) => [keyOf(placeOf(ends[n] ?? now), row[path] ?? null), row.count]))
  return {
    labels: [...labels, shortTime(now)],
    series: values.map((value, at) => ({
      name: wordOf(value),
      tone: toneAt(at),
      values: Array.from({ length: DAYS + 1 }, (_, place) => counts.get(keyOf(place, value)) ?? 0),
    })),
  }
}
