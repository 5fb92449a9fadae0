/** What is beside a list: one of its rows. `Esc` goes back to the list. */
import { type ReactNode, useCallback } from 'react'
import { navigate } from 'wouter/use-browser-location'
import { useKey } from '../shell/keys.tsx'
import { words } from '../words.ts'
import { Button } from './button.tsx'

type Props = { back: string; title: ReactNode; note?: ReactNode; children: ReactNode }

export function Panel({ back, title, note, children }: Props) {
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

/** Names and values, without those that are false. */
export const Facts = ({ of }: { of: readonly (Fact | false)[] }) => (
  <dl className="facts">
    {of.map(
      (fact) =>
        fact && (
          <div key={fact[0]}>
            <dt>{fact[0]}</dt>
            <dd>{fact[1]}</dd>
          </div>
        ),
    )}
  </dl>
)
