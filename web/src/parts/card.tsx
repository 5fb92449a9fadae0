/** The boxes of a page: a list with its head, what of it is open at the side, and cards with their parts. */
import { type ComponentProps, type ReactNode, useCallback } from 'react'
import { navigate } from 'wouter/use-browser-location'
import { useKey } from '../shell/keys.tsx'
import { Bar, type Trail } from '../shell/shell.tsx'
import { words } from '../words.ts'
import { Button } from './button.tsx'
import { Icon, type IconName } from './icon.tsx'

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

export const CardItem = ({ title, children }: { title: string; children: ReactNode }) => (
  <div className="card-item">
    <h3>{title}</h3>
    {children}
  </div>
)
