/** How many records have each value of a field: those that a list has most, day by day, or as bars where the server has no series. */
import type { Json, RecordType, RecordTypeProfile } from '../../api/shapes.ts'
import { pendingOf } from '../../parts/answer.tsx'
import { Chart, Legend, type Series, toneAt } from '../../parts/chart.tsx'
import { itemsOf, Menu } from '../../parts/menu.tsx'
import { type Field, fieldsOf, pluralOf, stateField } from '../../parts/record-types.ts'
import { cut, DAY, fieldName, shortTime, Text, toneOf, whole } from '../../parts/text.tsx'
import { words } from '../../words.ts'
import { filterOf, isChoice, isChosen, isPerson, toggled } from './filter.ts'
import { type Group, type Listing, useGroups, useProfile } from './load.ts'

const FACETS = 2
/** A field of more values than that is for the filter. */
const VALUES = 12
const VALUE_CHARS = 30

/** `isReady`: the rows are there, and come first. */
type Props = { of: Listing; isReady: boolean }

export function Facets(props: Props) {
  const { base, type } = props.of
  const profile = useProfile(base, type.id)
  return (
    <div className="facets">
      {facetsOf(type, profile.data).map((field) => (
        <Facet key={field.path} field={field} {...props} />
      ))}
    </div>
  )
}

/** The state first, then who has it, then other fields of few values. */
function facetsOf(type: RecordType, profile: RecordTypeProfile | undefined): Field[] {
  const state = stateField(type)
  const few = ({ path, values, schema }: Field) => {
    const found = profile?.fields.find(({ field }) => field === path)
    const distinct = values?.length ?? found?.distinct ?? VALUES + 1
    return (
      distinct >= 2 &&
      distinct <= VALUES &&
      !schema.format &&
      !((schema.maxLength ?? 0) > 200) &&
      schema.type !== 'array'
    )
  }
  const rank = (field: Field) => (field === state ? 0 : isPerson(field) ? 1 : field.isState ? 2 : 3)
  const fields = fieldsOf(type).map((field) => (field.path === state?.path ? state : field))
  return fields
    .filter(few)
    .sort((a, b) => rank(a) - rank(b))
    .slice(0, FACETS)
}

function Facet({ of, field, isReady }: Props & { field: Field }) {
  const { base, type, conditions, searched, asOf, setConditions } = of
  const others = conditions.filter((each) => !isChoice(each, field.path))
  const asked = { filter: filterOf(others, searched), as_of: asOf, limit: VALUES + 1 }
  const groups = useGroups(base, type.id, field.path, asked, isReady)
  const found = (groups.data?.data ?? []).map((group) => ({
    value: group[field.path] ?? null,
    count: group.count,
  }))
  const order = (value: Json) => (value === null ? VALUES + 1 : (field.values?.indexOf(value) ?? 0))
  const name = fieldName(field.path)
  if (groups.data && found.length === 0) return null
  return (
    <fieldset className="chips facet" aria-label={name}>
      <span className="meta">{name.replace(/^./u, (first) => first.toUpperCase())}</span>
      {found
        .sort((a, b) => order(a.value) - order(b.value))
        .map(({ value, count }) => (
          <button
            key={JSON.stringify(value)}
            type="button"
            className={`chip facet-value ${field.isState && typeof value === 'string' ? toneOf(value) : 'quiet'}`}
            aria-pressed={isChosen(conditions, field.path, value)}
            onClick={() => setConditions(toggled(conditions, field.path, value))}
          >
            <Text>
              {value === null
                ? isPerson(field)
                  ? words.nobody
                  : words.empty
                : cut(String(value), VALUE_CHARS).text}
            </Text>{' '}
            {whole.format(count)}
          </button>
        ))}
    </fieldset>
  )
}

const BARS = 24
const DAYS = 30
/** At the end of each day. */
const BY_DAY = { over: { interval: 'day', since: `${DAYS}d` }, limit: 1000 }

export function ChartPanel({ of, field: name }: { of: Listing; field: string }) {
  const { base, type, filter, change } = of
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
      <header className="chips">
        <h2>{title}</h2>
        {/* Its line is there before its words, so that nothing moves when they arrive. */}
        {field?.isState && (
          <Legend
            series={isByDay ? drawn.series.map((each) => ({ ...each, values: each.values.slice(-1) })) : []}
          />
        )}
        <Menu
          label={words.records.chartBy}
          items={itemsOf(
            fields.map((each) => [each.name, fieldName(each.path)]),
            (chart) => change({ chart }, true),
            { is: name },
          )}
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
