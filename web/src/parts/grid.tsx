/** A table of many rows: only those in sight are in the page. One tab stop; arrows move a cell, by the grid pattern of ARIA: it cannot be a table element. */
import { useVirtualizer } from '@tanstack/react-virtual'
import {
  type KeyboardEvent,
  type ReactNode,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { type Column, Line, styled } from './grid-line.tsx'

export type { Column } from './grid-line.tsx'

type Props<Row> = {
  label: string
  columns: readonly Column<Row>[]
  /** Heads that change, by the names of their columns: with the columns, all rows would be drawn again. */
  heads?: Readonly<Record<string, ReactNode>>
  rows: { at: (index: number) => Row | undefined }
  total: number
  keyOf: (row: Row) => string
  onOpen: (row: Row) => void
  /** Shows a row without leaving the list. */
  onPeek?: (row: Row) => void
  /** Reads what is missing of these rows. */
  onSight: (first: number, last: number) => void
  /** The rows that a person sees. */
  onShown?: (rows: { first: number; last: number }) => void
  selected?: ReadonlySet<string>
  onSelect?: (row: Row) => void
  isFresh?: (row: Row) => boolean
}

export function Grid<Row>(props: Props<Row>) {
  const { columns, rows, total, keyOf, onOpen, onPeek, onSight, onShown, selected, onSelect, isFresh } = props
  const box = useRef<HTMLDivElement>(null)
  const latest = useRef(props)
  useLayoutEffect(() => {
    latest.current = props
    box.current?.style.setProperty('--tracks', tracks(columns))
  })
  const [at, setAt] = useState({ row: 0, column: 0 })
  const hasFocus = useRef(false)
  const size = useRowSize()
  const virtual = useVirtualizer({
    count: total,
    getScrollElement: () => box.current,
    estimateSize: () => size,
    overscan: 12,
  })
  useEffect(() => {
    if (size) virtual.measure()
  }, [size, virtual])
  const items = virtual.getVirtualItems()
  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0]
  useEffect(() => onSight(first, last), [onSight, first, last])
  const { startIndex = 0, endIndex = 0 } = virtual.range ?? {}
  useEffect(() => onShown?.({ first: startIndex, last: endIndex }), [onShown, startIndex, endIndex])
  useEffect(() => {
    if (!hasFocus.current) return
    const cell = () => box.current?.querySelector<HTMLElement>(`[data-at="${at.row}:${at.column}"]`)
    // A cell that was pressed has the focus, and must not move under the pointer.
    if (cell()?.contains(document.activeElement)) return
    virtual.scrollToIndex(at.row)
    cell()?.focus({ preventScroll: true })
  }, [at, virtual])

  const move = (event: KeyboardEvent) => {
    const step = stepOf(event, Math.floor((box.current?.clientHeight ?? 0) / size))
    const row = rows.at(at.row)
    if (step) {
      event.preventDefault()
      const next = {
        row: Math.max(0, Math.min(total - 1, at.row + step.rows)),
        column: Math.max(0, Math.min(columns.length - 1, at.column + step.columns)),
      }
      setAt(next)
    } else if (event.key === 'Enter' && row !== undefined && isCell(event.target)) onOpen(row)
    else if (event.key === ' ' && row !== undefined && isCell(event.target)) {
      event.preventDefault()
      onPeek?.(row)
    } else if (event.key === 'x' && row !== undefined) onSelect?.(row)
  }
  const open = useCallback((row: Row) => latest.current.onOpen(row), [])
  const focused = useCallback((row: number, column: number) => {
    setAt((so) => (so.row === row && so.column === column ? so : { row, column }))
  }, [])
  return (
    <div
      ref={box}
      className="grid"
      role="grid"
      aria-label={props.label}
      aria-busy={total === 0 || items.some(({ index }) => rows.at(index) === undefined)}
      aria-rowcount={total + 1}
      aria-colcount={columns.length}
      aria-multiselectable={onSelect !== undefined}
      tabIndex={-1}
      onKeyDown={move}
      onFocus={() => {
        hasFocus.current = true
      }}
      onBlur={() => {
        hasFocus.current = false
      }}
    >
      <Heads columns={columns} heads={props.heads} />
      <div className="grid-body" role="rowgroup" ref={styled({ height: `${virtual.getTotalSize()}px` })}>
        {items.map(({ index, start }) => {
          const row = rows.at(index)
          return (
            <Line
              key={index}
              index={index}
              start={start}
              row={row}
              columns={columns}
              isSelected={onSelect ? row !== undefined && selected?.has(keyOf(row)) === true : undefined}
              isFresh={row !== undefined && isFresh?.(row) === true}
              stop={at.row === index ? at.column : -1}
              onOpen={open}
              onFocus={focused}
            />
          )
        })}
      </div>
    </div>
  )
}

type HeadsProps<Row> = Pick<Props<Row>, 'columns'> & { heads: Props<Row>['heads'] }

const Heads = <Row,>({ columns, heads }: HeadsProps<Row>) => (
  <div className="grid-head" role="row" aria-rowindex={1}>
    {columns.map(({ name, head, isNumber, onSort, sorted }) => (
      <div key={name} role="columnheader" aria-sort={sorted} className={isNumber ? 'cell numbers' : 'cell'}>
        {onSort ? (
          <button type="button" className="quiet" onClick={onSort}>
            {head} {sorted && <span aria-hidden="true">{sorted === 'ascending' ? '↑' : '↓'}</span>}
          </button>
        ) : (
          (heads?.[name] ?? head)
        )}
      </div>
    ))}
  </div>
)

const isCell = (target: EventTarget) => target instanceof HTMLElement && target.dataset['at'] !== undefined

/** The tracks of the columns, for head and rows alike. */
const tracks = <Row,>(columns: readonly Column<Row>[]): string =>
  columns.map(({ width, grow = 1 }) => `minmax(${width}rem, ${width * grow}fr)`).join(' ')

function stepOf({ key, ctrlKey, metaKey }: KeyboardEvent, page: number) {
  const isFar = ctrlKey || metaKey
  const steps: Record<string, { rows: number; columns: number }> = {
    ArrowDown: { rows: 1, columns: 0 },
    j: { rows: 1, columns: 0 },
    ArrowUp: { rows: -1, columns: 0 },
    k: { rows: -1, columns: 0 },
    ArrowRight: { rows: 0, columns: 1 },
    ArrowLeft: { rows: 0, columns: -1 },
    PageDown: { rows: page, columns: 0 },
    PageUp: { rows: -page, columns: 0 },
    Home: isFar ? { rows: -1e9, columns: 0 } : { rows: 0, columns: -1e9 },
    End: isFar ? { rows: 1e9, columns: 0 } : { rows: 0, columns: 1e9 },
  }
  return steps[key]
}

/** The height of a row in pixels: it follows the size of text and the density. */
function useRowSize(): number {
  const [size, setSize] = useState(36)
  useEffect(() => {
    const style = getComputedStyle(document.documentElement)
    setSize(Number.parseFloat(style.getPropertyValue('--row')) * Number.parseFloat(style.fontSize))
  }, [])
  return size
}
