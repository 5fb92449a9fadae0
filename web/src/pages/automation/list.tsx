/** All that a base does by itself: what sets each off, and how it went. */
import { useSearch } from 'wouter'
import { to } from '../../addresses.ts'
import { useTypes } from '../../api/queries.ts'
import { Chip } from '../../parts/chip.tsx'
import { Icon, type IconName } from '../../parts/icon.tsx'
import { Text } from '../../parts/plain-text.tsx'
import { Table, type TableColumn } from '../../parts/table.tsx'
import { whole } from '../../parts/text.ts'
import { words } from '../../words.ts'
import type { Automatic, Counts, Kind } from './load.ts'
import { saying } from './saying.ts'

const ICONS: Readonly<Record<Kind, IconName>> = {
  trigger: 'out',
  inbound_webhook: 'in',
  action: 'automation',
  source: 'plug',
}

type Props = {
  base: string
  rows: readonly Automatic[]
  counts: (id: string) => Counts | undefined
  selected: string | undefined
}

export function List({ base, rows, counts, selected }: Props) {
  const search = useSearch()
  const types = useTypes(base).data ?? []
  const heads = words.automation.heads
  const columns: TableColumn<Automatic>[] = [
    {
      head: heads.name,
      cell: ({ kind, name, isOn, hint }) => (
        <span className="who">
          <Icon name={ICONS[kind]} />
          <Text>{name}</Text>
          {!isOn && (
            <Chip tone={hint ? 'removed' : 'quiet'}>
              {hint ? words.automation.stopped : words.agents.off}
            </Chip>
          )}
        </span>
      ),
    },
    {
      head: heads.what,
      isWide: true,
      className: 'meta kind-cell automation-what',
      cell: (row) => <Text>{saying(row, types)}</Text>,
    },
    {
      head: heads.sent,
      isNumber: true,
      cell: ({ id }) => numberOf(counts(id)?.sent),
    },
    {
      head: heads.failed,
      isNumber: true,
      cell: ({ id }) => (
        <span className={(counts(id)?.failed ?? 0) > 0 ? 'failed-word' : ''}>
          {numberOf(counts(id)?.failed)}
        </span>
      ),
    },
  ]
  return (
    <Table
      label={words.automation.title}
      columns={columns}
      rows={rows}
      keyOf={({ kind, id }) => `${kind}/${id}`}
      addressOf={(row) => `${to.automation(base, row)}${search && `?${search}`}`}
      selected={selected}
    />
  )
}

const numberOf = (count: number | undefined) => (count === undefined ? '' : whole.format(count))
