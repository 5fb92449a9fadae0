/** How many records have each value of a field. */
import type { Json, RecordType } from '../../api/shapes.ts'
import { Chart } from '../../parts/chart.tsx'
import { pendingOf } from '../../parts/failure.tsx'
import { Menu } from '../../parts/menu.tsx'
import { fieldsOf, pluralOf } from '../../parts/record-types.ts'
import type { Change } from '../../parts/search.ts'
import { cut, fieldName, whole } from '../../parts/text.ts'
import { words } from '../../words.ts'
import { useGroups } from './load.ts'

const BARS = 24

type Props = { base: string; type: RecordType; field: string; filter: unknown; onChange: Change }

export function ChartPanel({ base, type, field, filter, onChange }: Props) {
  const path = `data.${field}`
  const known = fieldsOf(type).find(({ name }) => name === field)
  const groups = useGroups(base, type.id, path, filter, undefined, BARS)
  const order = (value: Json) => known?.values?.indexOf(value) ?? 0
  const bars = (groups.data?.data ?? [])
    .map((group) => ({ value: group[path] ?? null, count: group.count }))
    .sort((a, b) => order(a.value) - order(b.value))
  const title = words.records.chartOf(pluralOf(type), fieldName(path))
  return (
    <section className="chart-panel" aria-label={title}>
      <header>
        <h2>{title}</h2>
        <Menu
          label={words.records.chartBy}
          items={fieldsOf(type)
            .filter(({ schema }) => schema.type !== 'array' && schema.type !== 'object')
            .map(({ name, path: of }) => ({
              label: fieldName(of),
              isOn: name === field,
              onSelect: () => onChange({ chart: name }, true),
            }))}
        />
      </header>
      {pendingOf(groups, 3) ?? (
        <Chart
          title={title}
          marks={BARS}
          labels={bars.map(
            ({ value, count }) =>
              `${value === null ? words.empty : cut(String(value), 20).text} ${whole.format(count)}`,
          )}
          series={[
            { name: pluralOf(type).toLowerCase(), tone: 'tone-0', values: bars.map(({ count }) => count) },
          ]}
        />
      )}
    </section>
  )
}
