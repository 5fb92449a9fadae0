/** The start: the bases that the token may use. With one, straight to it. */
import { useEffect } from 'react'
import { Link } from 'wouter'
import { navigate } from 'wouter/use-browser-location'
import { to } from '../addresses.ts'
import { useBases } from '../api/queries.ts'
import { Empty, pendingOf } from '../parts/failure.tsx'
import { Text } from '../parts/plain-text.tsx'
import { words } from '../words.ts'

export function Bases() {
  const bases = useBases()
  const all = bases.data?.data ?? []
  const production = all.filter(({ production_base }) => production_base === null)
  const only = production.length === 1 && bases.data?.meta.has_more === false ? production[0] : undefined
  useEffect(() => {
    if (only) navigate(to.activity(only.id), { replace: true })
  }, [only])
  return (
    <main className="page start">
      <div className="mark" aria-hidden="true" />
      <h1>{words.bases.title}</h1>
      {pendingOf(bases)}
      {bases.data && all.length === 0 && (
        <Empty title={words.bases.none}>
          <p>{words.bases.noneHint}</p>
          <p>
            <a href="/guides/mcp">{words.nav.connect}</a> · <a href="/guides/cookbook">{words.nav.guides}</a>
          </p>
        </Empty>
      )}
      <ul className="cards">
        {production.map(({ id, name, description }) => (
          <li key={id}>
            <Link href={to.activity(id)}>
              <Text in="strong">{name ?? id}</Text>
              <code>{id}</code>
            </Link>
            {description !== null && <Text in="p">{description}</Text>}
            {all
              .filter(({ production_base }) => production_base === id)
              .map((preview) => (
                <Link key={preview.id} href={to.activity(preview.id)} className="preview">
                  {preview.id}
                </Link>
              ))}
          </li>
        ))}
      </ul>
    </main>
  )
}
