/** A row of a grid. */
import { memo, type ReactNode } from 'react'

export type Column<Row> = {
  name: string
  head: ReactNode
  /** Width in rem. */
  width: number
  /** Takes that share of the room that is left; 1 without it. */
  grow?: number
  isNumber?: boolean
  /** Sorts by it. */
  onSort?: () => void
  sorted?: 'ascending' | 'descending' | undefined
  cell: (row: Row, isSelected: boolean) => ReactNode
}
type LineProps<Row> = {
  index: number
  start: number
  row: Row | undefined
  columns: readonly Column<Row>[]
  isSelected: boolean | undefined
  isFresh: boolean
  /** The column of the tab stop, if it is in this row. */
  stop: number
  onOpen: (row: Row) => void
  onFocus: (row: number, column: number) => void
}

/** A row is drawn again only when it changes: scrolling moves the others. */
export const Line = memo(function Line<Row>(props: LineProps<Row>) {
  const { index, start, row, columns, isSelected, isFresh, stop, onOpen, onFocus } = props
  return (
    <div
      role="row"
      tabIndex={-1}
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      className={isFresh ? 'grid-row fresh' : 'grid-row'}
      ref={styled({ transform: `translateY(${start}px)` })}
    >
      {columns.map((column, place) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the grid has the keys of all its cells
        <div
          key={column.name}
          role="gridcell"
          aria-colindex={place + 1}
          data-at={`${index}:${place}`}
          tabIndex={stop === place ? 0 : -1}
          className={column.isNumber ? 'cell numbers' : 'cell'}
          onFocus={() => onFocus(index, place)}
          onClick={() => row !== undefined && column.name !== 'select' && onOpen(row)}
        >
          {row === undefined ? <span className="blank" /> : column.cell(row, isSelected === true)}
        </div>
      ))}
    </div>
  )
}) as <Row>(props: LineProps<Row>) => ReactNode

/** The policy of the page allows no style attributes; a script may set styles. */
export const styled = (style: Partial<CSSStyleDeclaration>) => (element: HTMLElement | null) => {
  if (element) Object.assign(element.style, style)
}
