/** The grid of a list, with what changed since it was opened, its foot, and what is selected. */
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { navigate } from 'wouter/use-browser-location'
import { to } from '../../addresses.ts'
import { type Page, pathOf, useRead } from '../../api/queries.ts'
import { useNarrow } from '../../api/store.ts'
import { Empty, Failure } from '../../parts/answer.tsx'
import { Button } from '../../parts/button.tsx'
import { type Column, Grid } from '../../parts/grid.tsx'
import { counted, fieldsOf, pluralOf } from '../../parts/record-types.ts'
import { words } from '../../words.ts'
import { Authors, buildColumns, expandOf, type Link, shownColumns } from './columns.tsx'
import { Foot, Peek, type Shown } from './foot.tsx'
import { useFreshRows } from './fresh.ts'
import { type Linked, type ListBody, type Listing, useAuthors, useFoot, useList } from './load.ts'
import { Selection } from './selection.tsx'

const SUMS = 2

type Props = {
  of: Listing
  onAgain: () => void
  /** The first rows are there. */
  onRead: () => void
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

export function RecordList({ of, onAgain, onRead }: Props) {
  const { base, type, search, stamp, conditions, sort, asOf, filter, change, setConditions } = of
  const isNarrow = useNarrow()
  const links = useLinks(base, type.id)
  const names = shownColumns(type, links, search['cols'], isNarrow).join(',')
  const expand = expandOf(names.split(','))
  const body: ListBody = {
    ...(filter !== undefined && { filter }),
    ...(sort !== '' && { sort }),
    ...(asOf !== undefined ? { as_of: asOf } : expand.length > 0 && { expand }),
  }
  const sums = fieldsOf(type)
    .filter(({ isNumber }) => isNumber)
    .slice(0, SUMS)
    .map(({ path }) => path)
  const foot = useFoot(base, type.id, body, sums, stamp)
  const list = useList(base, type.id, body, stamp, foot?.count)
  const all = useFoot(base, type.id, {}, [], stamp, filter !== undefined && !list.isPending)
  useEffect(() => {
    if (!list.isPending) onRead()
  })
  const onShown = useRef<(rows: Shown) => void>(() => undefined)
  const authors = useAuthors(base, type.id, asOf === undefined && !isNarrow ? list.rows.pages : [])
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
    const onSort = (next: string) => change({ sort: next })
    const shown = names.split(',').filter(Boolean)
    return [
      ...(isNarrow || asOf !== undefined ? [] : [selectColumn(toggle)]),
      ...buildColumns(type, shown, { sorted: sort, onSort }, isNarrow),
    ]
  }, [type, names, sort, asOf, isNarrow, toggle, change])
  const selectAll = (
    <input
      type="checkbox"
      aria-label={words.records.selectAll}
      checked={isAll}
      onChange={() => setSelected(isAll ? new Map() : new Map(known.map((row) => [row.id, row])))}
    />
  )
  const plural = pluralOf(type).toLowerCase()
  const isNarrowed = conditions.length > 0 || Boolean(search['q'])
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
            {conditions.length > 0 && (
              <Button label={words.records.removeFilter} onClick={() => setConditions([])} />
            )}
            {search['q'] && (
              <Button label={words.records.removeSearch} onClick={() => change({ q: undefined })} />
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
          {...(asOf === undefined && { onSelect: toggle })}
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
