/** The endpoints: each a set of tools for one kind of agent. */
import { Link } from 'wouter'
import { to } from '../../addresses.ts'
import type { Endpoint, Token } from '../../api/shapes.ts'
import { Card } from '../../parts/card.tsx'
import { endpointsOf } from '../../parts/grants.ts'
import { Chip, Text } from '../../parts/text.tsx'
import { Who } from '../../parts/who.tsx'
import { words } from '../../words.ts'

type Props = {
  base: string
  endpoints: readonly (Pick<Endpoint, 'id' | 'name'> & Partial<Endpoint>)[]
  tokens: readonly Token[]
  selected: string | undefined
}

/** The tokens that have a grant on an endpoint. */
export const holders = (tokens: readonly Token[], id: string): Token[] =>
  tokens.filter(({ grants }) => grants.some((grant) => endpointsOf(grant).includes(id)))

export function Endpoints({ base, endpoints, tokens, selected }: Props) {
  if (endpoints.length === 0) return null
  return (
    <Card
      className="endpoints"
      icon="plug"
      title={words.agents.endpoints}
      note={<span className="wide-only">{words.agents.endpointsAbout}</span>}
    >
      <ul>
        {endpoints.map(({ id, name, description, enabled }) => (
          <li key={id} className={`card-item endpoint-row ${id === selected ? 'selected' : ''}`}>
            <div>
              <Link href={to.endpoint(base, id)} aria-current={id === selected ? 'true' : undefined}>
                <Text in="strong">{name ?? id}</Text>
              </Link>{' '}
              {enabled === false && <Chip>{words.agents.off}</Chip>}
              {description && (
                <Text in="p" className="meta">
                  {description}
                </Text>
              )}
            </div>
            <span className="chips">
              {holders(tokens, id)
                .slice(0, 3)
                .map((token) => (
                  <Who key={token.id} name={token.name} kind={token.kind} />
                ))}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  )
}
