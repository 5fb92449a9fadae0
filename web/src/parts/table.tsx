/** A table of a few rows. The first column names a row, and leads to it where it has an address. */
import type { ReactNode } from 'react'
import { Link } from 'wouter'

export type TableColumn<Row> = {
  head: string
  cell: (row: Row) => ReactNode
  isNumber?: boolean
  /** Only where there is room. */
  isWide?: boolean
  className?: string
}
type Props<Row> = {
  label: string
  columns: readonly TableColumn<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row) => string
  addressOf?: (row: Row) => string
  selected?: string | undefined
}

export function Table<Row>({ label, columns, rows, keyOf, addressOf, selected }: Props<Row>) {
  const classOf = ({ isNumber, isWide, className = '' }: TableColumn<Row>) =>
    `${isNumber ? 'number-cell' : ''} ${isWide ? 'wide-only' : ''} ${className}`
  return (
    <table className="card table">
      <caption className="hidden">{label}</caption>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column.head} scope="col" className={classOf(column)}>
              {column.head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => {
          const key = keyOf(row)
          return (
            <tr key={key} className={key === selected ? 'selected' : ''}>
              {columns.map((column, at) =>
                at > 0 ? (
                  <td key={column.head} className={classOf(column)}>
                    {column.cell(row)}
                  </td>
                ) : (
                  <th key={column.head} scope="row">
                    {addressOf ? (
                      <Link href={addressOf(row)} aria-current={key === selected ? 'true' : undefined}>
                        {column.cell(row)}
                      </Link>
                    ) : (
                      column.cell(row)
                    )}
                  </th>
                ),
              )}
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}
