/** A box with a head, and a part of one with a title. */
import type { ReactNode } from 'react'
import { Icon, type IconName } from './icon.tsx'

type Props = {
  title: string
  icon?: IconName
  /** Behind the title: a number, or what it is about. */
  note?: ReactNode
  className?: string
  children: ReactNode
}

export const Card = ({ title, icon, note, className = '', children }: Props) => (
  <section className={`card ${className}`} aria-label={title}>
    <header>
      {icon && <Icon name={icon} />}
      <h2>{title}</h2>
      {note !== undefined && <span className="note">{note}</span>}
    </header>
    {children}
  </section>
)

export const CardItem = ({ title, children }: { title: string; children: ReactNode }) => (
  <div className="card-item">
    <h3>{title}</h3>
    {children}
  </div>
)
