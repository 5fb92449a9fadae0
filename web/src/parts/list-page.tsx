/** A page of a list: what it is about, its tools, and what of it is open at the side. */
import type { ReactNode } from 'react'
import { Bar } from '../shell/shell.tsx'

type Props = {
  nav: string
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
  children: ReactNode
}

export const ListPage = ({ nav, title, about, bar, tools, isOpen = false, panel, gone, children }: Props) => (
  <>
    <Bar trail={[[nav]]}>{bar}</Bar>
    <main className={`page ${isOpen ? 'with-panel' : ''}`}>
      <div className="panel-list">
        <div className="page-head">
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
