/** The grid of a list, with what changed since it was opened, its foot, and what is selected. */
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { navigate } from 'wouter/use-browser-location'
import { type Search, to } from '../../addresses.ts'
import { pathOf, useRead } from '../../api/queries.ts'
import type { Page, RecordType } from '../../api/shapes.ts'
import { Button } from '../../parts/button.tsx'
import { Empty, Failure } from '../../parts/failure.tsx'
import { type Column, Grid } from '../../parts/grid.tsx'
import { useNarrow } from '../../parts/narrow.ts'
import { counted, fieldsOf, pluralOf } from '../../parts/record-types.ts'
import type { Change } from '../../parts/search.ts'
import { words } from '../../words.ts'
import { Authors, buildColumns, expandOf, type Link, shownColumns } from './columns.tsx'
import type { Condition } from './filter.ts'
import { Foot, type Shown } from './foot.tsx'
import { useFreshRows } from './fresh.ts'
import { type Linked, type ListBody, useAuthors, useFoot, useList } from './load.ts'
import { Peek } from './peek.tsx'
import { Selection } from './selection.tsx'

const SUMS = 2

type Props = {
  base: string
  type: RecordType
  asked: { conditions: Condition[]; sort: string; asOf: string | undefined; filter: unknown }
  search: Search
  stamp: number
  onAgain: () => void
  /** The first rows are there. */
  onRead: () => void
  onChange: Change
  onConditions: (conditions: Condition[]) => void
}

export type RelationshipType = Link & { source_record_types: string[]; cardinality: string }
export const useLinks = (base: string, type: string): RelationshipType[] => {
  const all = useRead<Page<RelationshipType>>(pathOf([base, 'relationship-types'], { limit: 1000 })).data
    ?.data
  return useMemo(
    () =>
      (all ?? []).filter(
        ({ source_record_types: sources, cardinality }) =>
          sources.includes(type) && cardinality.endsWith('to_one'),
      ),
    [all, type],
  )
}

export function RecordList(props: Props) {
  const { base, type, asked, search, stamp, onAgain, onRead, onChange, onConditions } = props
  const isNarrow = useNarrow()
  const links = useLinks(base, type.id)
  const names = shownColumns(type, links, search['cols'], isNarrow).join(',')
  const expand = expandOf(names.split(','))
  const body: ListBody = {
    ...(asked.filter !== undefined && { filter: asked.filter }),
    ...(asked.sort !== '' && { sort: asked.sort }),
    ...(asked.asOf !== undefined ? { as_of: asked.asOf } : expand.length > 0 && { expand }),
  }
  const sums = fieldsOf(type)
    .filter(({ isNumber }) => isNumber)
    .slice(0, SUMS)
    .map(({ path }) => path)
  const foot = useFoot(base, type.id, body, sums, stamp)
  const list = useList(base, type.id, body, stamp, foot?.count)
  const all = useFoot(base, type.id, {}, [], stamp, asked.filter !== undefined && !list.isPending)
  useEffect(() => {
    if (!list.isPending) onRead()
  })
  const onShown = useRef<(rows: Shown) => void>(() => undefined)
  const authors = useAuthors(base, type.id, asked.asOf === undefined && !isNarrow ? list.rows.pages : [])
  const { changed, fresh } = useFreshRows(base, type.id, stamp)
  const [selected, setSelected] = useState<ReadonlyMap<string, Linked>>(new Map())
  const [peeked, setPeeked] = useState<Linked>()
  const toggle = useCallback((row: Linked) => {
    setSelected((so) => {
      const next = new Map(so)
      if (!next.delete(row.id)) next.set(row.id, row)
      return next
    })
  }, [])
  const tell = useCallback((rows: Shown) => onShown.current(rows), [])
  const keys = useMemo(() => new Set(selected.keys()), [selected])
  const { known } = list.rows
  const isAll = known.length > 0 && known.every(({ id }) => selected.has(id))
  const columns = useMemo(() => {
    const onSort = (sort: string) => onChange({ sort })
    const shown = names.split(',').filter(Boolean)
    return [
      ...(isNarrow || asked.asOf !== undefined ? [] : [selectColumn(toggle)]),
      ...buildColumns(type, shown, { sorted: asked.sort, onSort }, isNarrow),
    ]
  }, [type, names, asked.sort, asked.asOf, isNarrow, toggle, onChange])
  const selectAll = (
    <input
      type="checkbox"
      aria-label={words.records.selectAll}
      checked={isAll}
      onChange={() => setSelected(isAll ? new Map() : new Map(known.map((row) => [row.id, row])))}
    />
  )
  const plural = pluralOf(type).toLowerCase()
  const isNarrowed = asked.conditions.length > 0 || Boolean(search['q'])
  if (list.error && known.length === 0) return <Failure of={list.error} onRetry={() => void list.refetch()} />
  return (
    <Authors value={authors}>
      {changed > 0 && (
        <Button
          className="full changed-since"
          label={words.records.changedSince(counted(changed, [type], type.id, 'record'))}
          onClick={onAgain}
        />
      )}
      {!list.isPending && list.total === 0 ? (
        <Empty title={isNarrowed ? words.records.noMatch(plural, all?.count) : words.records.none(plural)}>
          <span className="chips">
            {asked.conditions.length > 0 && (
              <Button label={words.records.removeFilter} onClick={() => onConditions([])} />
            )}
            {search['q'] && (
              <Button label={words.records.removeSearch} onClick={() => onChange({ q: undefined })} />
            )}
          </span>
        </Empty>
      ) : (
        <Grid
          label={pluralOf(type)}
          columns={columns}
          heads={{ select: selectAll }}
          rows={list.rows}
          total={list.total}
          keyOf={({ id }) => id}
          onOpen={({ id }) => navigate(to.record(base, type.id, id))}
          onPeek={setPeeked}
          onSight={list.onSight}
          onShown={tell}
          selected={keys}
          {...(asked.asOf === undefined && { onSelect: toggle })}
          isFresh={({ id }) => fresh.has(id)}
        />
      )}
      {peeked && <Peek base={base} type={type} row={peeked} onClose={() => setPeeked(undefined)} />}
      <Foot
        foot={foot}
        all={all?.count}
        plural={plural}
        sums={sums}
        total={list.total}
        onShown={onShown}
        hint={list.hint}
      />
      {selected.size > 0 && (
        <Selection
          base={base}
          type={type}
          rows={[...selected.values()]}
          onClear={() => setSelected(new Map())}
          onDone={onAgain}
        />
      )}
    </Authors>
  )
}

const selectColumn = (toggle: (row: Linked) => void): Column<Linked> => ({
  name: 'select',
  head: null,
  width: 3,
  grow: 0,
  cell: (row, isSelected) => (
    <input
      type="checkbox"
      tabIndex={-1}
      aria-label={words.records.select(row.id)}
      checked={isSelected}
      onChange={() => toggle(row)}
    />
  ),
})
