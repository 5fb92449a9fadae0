/** A table of a few rows. The first column names a row, and leads to it where it has an address. */
import type { ReactNode } from 'react'
import { Link } from 'wouter'

/** Of what kind the cells are, its classes say: `number-cell`, or `wide-only` where they need room. */
export type TableColumn<Row> = readonly [head: string, cell: (row: Row) => ReactNode, className?: string]
type Props<Row> = {
  label: string
  columns: readonly TableColumn<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row) => string
  addressOf?: (row: Row) => string
  selected?: string | undefined
}

export function Table<Row>({ label, columns, rows, keyOf, addressOf, selected }: Props<Row>) {
  return (
    <table className="card full table">
      <caption className="hidden">{label}</caption>
      <thead>
        <tr>
          {columns.map(([head, , className]) => (
            <th key={head} scope="col" className={className}>
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => {
          const key = keyOf(row)
          return (
            <tr key={key} className={key === selected ? 'selected' : ''}>
              {columns.map(([head, cell, className], at) =>
                at > 0 ? (
                  <td key={head} className={className}>
                    {cell(row)}
                  </td>
                ) : (
                  <th key={head} scope="row">
                    {addressOf ? (
                      <Link href={addressOf(row)} aria-current={key === selected ? 'true' : undefined}>
                        {cell(row)}
                      </Link>
                    ) : (
                      cell(row)
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
