/** Above the grid: the order, the columns, and the chart. */
import type { Search } from '../../addresses.ts'
import type { RecordType } from '../../api/shapes.ts'
import { Button } from '../../parts/button.tsx'
import { Menu } from '../../parts/menu.tsx'
import { fieldsOf, stateField } from '../../parts/record-types.ts'
import type { Change } from '../../parts/search.ts'
import { fieldName, Text } from '../../parts/text.tsx'
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
    <div className="chips tools">
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
