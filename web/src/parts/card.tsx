/** The boxes of a page: a list with its head, what of it is open at the side, tables, and cards with their parts. */
import { type ComponentProps, type ReactNode, useCallback } from 'react'
import { Link } from 'wouter'
import { navigate } from 'wouter/use-browser-location'
import { useKey } from '../shell/keys.tsx'
import { Bar, type Trail } from '../shell/shell.tsx'
import { words } from '../words.ts'
import { pendingOf, type Reading } from './answer.tsx'
import { Button, Icon, type IconName } from './button.tsx'

type ListPageProps = Omit<ComponentProps<'main'>, 'className'> & {
  /** Where it is: a name, or names with the addresses of those before. */
  nav: string | Trail
  title: string
  about: string
  /** At the top, beside where the page is. */
  bar?: ReactNode
  /** Beside the title. */
  tools?: ReactNode
  /** The address is of one thing of the list. */
  isOpen?: boolean
  /** What is open at the side, and dialogs: a narrow page shows no list beside what is open. */
  panel?: ReactNode
  /** Said in its place: the address is of nothing that is there. */
  gone?: string | false | undefined
}

export function ListPage(props: ListPageProps) {
  const { nav, title, about, bar, tools, isOpen, panel, gone, children, ...main } = props
  return (
    <>
      <Bar trail={typeof nav === 'string' ? [[nav]] : nav}>{bar}</Bar>
      <main className={`page ${isOpen ? 'with-panel' : ''}`} {...main}>
        <div className="panel-list">
          <div className="chips spread gap-3 mb-4 page-head">
            <div>
              <h1>{title}</h1>
              <p className="meta">{about}</p>
            </div>
            {tools}
          </div>
          {children}
        </div>
        {gone && <p className="card card-item">{gone}</p>}
        {panel}
      </main>
    </>
  )
}

type PanelProps = { back: string; title: ReactNode; note?: ReactNode; children: ReactNode }

export function Panel({ back, title, note, children }: PanelProps) {
  const close = useCallback(() => navigate(back), [back])
  useKey('Escape', close)
  return (
    <section className="panel card" aria-labelledby="panel-title">
      <header>
        <h2 id="panel-title">{title}</h2>
        <span className="meta">{note}</span>
        <Button className="quiet" icon="close" aria-label={words.close} onClick={close} />
      </header>
      {children}
    </section>
  )
}

type Fact = readonly [name: string, value: ReactNode]

/** Names and values, without those that are not there. */
export function Facts({ of }: { of: Readonly<Record<string, ReactNode>> | readonly Fact[] }) {
  const facts: readonly Fact[] = Array.isArray(of) ? of : Object.entries(of)
  const shown = facts.filter(([, value]) => value !== false && value != null)
  return (
    <dl className="stack facts">
      {shown.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

type CardProps = {
  title: string
  icon?: IconName
  /** Behind the title: a number, or what it is about. */
  note?: ReactNode
  className?: string
  children: ReactNode
}

export const Card = ({ title, icon, note, className = '', children }: CardProps) => (
  <section className={`card ${className}`} aria-label={title}>
    <header>
      {icon && <Icon name={icon} />}
      <h2>{title}</h2>
      {note !== undefined && <span className="note">{note}</span>}
    </header>
    {children}
  </section>
)

/** A part of a page with how much is in it. */
export const Section = ({
  title,
  count,
  children,
}: {
  title: string
  count: number
  children: ReactNode
}) => (
  <section className="section" aria-label={title}>
    <h2>
      {title} <span className="note">{count}</span>
    </h2>
    {children}
  </section>
)

type Row = readonly [key: string, what: ReactNode, note?: ReactNode]

/** What there is, with what is said of each, and how many more there are than are shown. */
export const Rows = ({ of, most, className }: { of: readonly Row[]; most?: number; className?: string }) => (
  <ul>
    {of.slice(0, most).map(([key, what, note]) => (
      <li key={key} className={className}>
        {what} {note && <span className="meta">{note}</span>}
      </li>
    ))}
    {most !== undefined && of.length > most && <li className="meta">{words.andMore(of.length - most)}</li>}
  </ul>
)

export const CardItem = ({ title, children }: { title: string; children: ReactNode }) => (
  <div className="card-item">
    <h3>{title}</h3>
    {children}
  </div>
)

/** Of what kind the cells are, its classes say: `number-cell`, or `wide-only` where they need room. */
export type TableColumn<Row> = readonly [head: string, cell: (row: Row) => ReactNode, className?: string]
type Props<Row> = {
  label: string
  columns: readonly TableColumn<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row) => string
  addressOf?: (row: Row) => string
  selected?: string | undefined
  /** Said in its place until the rows are there. */
  reading?: Reading
  /** What stands where there is no row. */
  empty?: ReactNode
}

/** A table of a few rows. The first column names a row, and leads to it where it has an address. */
export function Table<Row>({ label, columns, rows, keyOf, addressOf, selected, ...rest }: Props<Row>) {
  const instead = (rest.reading && pendingOf(rest.reading)) ?? (rows.length === 0 && rest.empty)
  if (instead) return instead
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
