/** Who may come in: a row for each token, with what it used. */
import { Link, useSearch } from 'wouter'
import { to } from '../../addresses.ts'
import type { Token } from '../../api/shapes.ts'
import { Empty } from '../../parts/failure.tsx'
import { grantWords, reaches } from '../../parts/grants.ts'
import { Text } from '../../parts/plain-text.tsx'
import { whole } from '../../parts/text.ts'
import { Time } from '../../parts/time.tsx'
import { Who } from '../../parts/who.tsx'
import { words } from '../../words.ts'
import { kindOf, type useUsage } from './load.ts'

type Props = {
  base: string
  tokens: readonly Token[]
  usage: ReturnType<typeof useUsage>
  selected: string | undefined
}

export function Tokens({ base, tokens, usage, selected }: Props) {
  const search = useSearch()
  if (tokens.length === 0) return <Empty title={words.agents.none} />
  const heads = words.agents.heads
  return (
    <table className="card agents-table">
      <caption className="hidden">{words.agents.title}</caption>
      <thead>
        <tr>
          <th scope="col">{heads.who}</th>
          <th scope="col" className="wide-only kind-cell">
            {heads.kind}
          </th>
          <th scope="col" className="wide-only">
            {heads.may}
          </th>
          {usage.isKnown && (
            <>
              <th scope="col" className="number-cell">
                {heads.calls}
              </th>
              <th scope="col" className="number-cell">
                {heads.failed}
              </th>
              <th scope="col" className="number-cell wide-only">
                {heads.changed}
              </th>
            </>
          )}
          <th scope="col" className="number-cell">
            {heads.last}
          </th>
        </tr>
      </thead>
      <tbody>
        {tokens.map((token) => {
          const { id, name, grants, last_used_at: last } = token
          const { calls, failed, changes } = usage.sum(token)
          const shown = (count: number) => (usage.isThere ? whole.format(count) : '')
          return (
            <tr key={id} className={id === selected ? 'selected' : ''}>
              <th scope="row">
                <Link
                  href={`${to.agents(base, id)}${search && `?${search}`}`}
                  aria-current={id === selected ? 'true' : undefined}
                >
                  <Who name={name} kind={kindOf(token)} />
                </Link>
              </th>
              <td className="wide-only kind-cell meta">{words.kinds[kindOf(token)]}</td>
              <td className="wide-only meta">
                <Text>
                  {[...new Set(grants.filter((grant) => reaches(grant, base)).map(grantWords))].join('; ')}
                </Text>
              </td>
              {usage.isKnown && (
                <>
                  <td className="number-cell">{shown(calls)}</td>
                  <td className={`number-cell ${failed > 0 ? 'failed-word' : ''}`}>{shown(failed)}</td>
                  <td className="number-cell wide-only">{shown(changes)}</td>
                </>
              )}
              <td className="number-cell">
                {last === null ? (
                  <span className="meta">{words.agents.never}</span>
                ) : (
                  <Time at={last} as="span" />
                )}
              </td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}
