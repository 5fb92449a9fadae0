import { useState } from 'react'
import { useSearch } from 'wouter'
import { type PageProps, to } from '../../addresses.ts'
import type { Token } from '../../api/shapes.ts'
import { askUndo, Empty, Failure, pendingOf } from '../../parts/answer.tsx'
import { Button } from '../../parts/button.tsx'
import { ListPage, Table, type TableColumn } from '../../parts/card.tsx'
import { Segments } from '../../parts/fields.tsx'
import { grantWords, reaches, useMay } from '../../parts/grants.ts'
import { useParameters } from '../../parts/link.tsx'
import { Pauses, usePauses } from '../../parts/pauses.tsx'
import { Text, Time, whole } from '../../parts/text.tsx'
import { NewToken } from '../../parts/token-form.tsx'
import { DoneSince, Who } from '../../parts/who.tsx'
import { ConnectButton } from '../../shell/connect.tsx'
import { words } from '../../words.ts'
import { EndpointPanel, Endpoints } from './endpoints.tsx'
import { spanOf, useEndpoints, useTokens, useUsage } from './load.ts'
import { Revoke } from './revoke.tsx'
import { TokenPanel } from './token-panel.tsx'
import './agents.css'

export default function Page({ place: { base, token: id, endpoint: endpointId } }: PageProps) {
  const [search, change] = useParameters()
  const [isMaking, setMaking] = useState(false)
  const [revoked, setRevoked] = useState<Token>()
  const span = spanOf(search['span'])
  const tokens = useTokens(base)
  const endpoints = useEndpoints(base)
  const usage = useUsage(base, span, tokens.rows)
  const isAdmin = useMay(base, '*', 'admin')
  const token = tokens.rows.find((each) => each.id === id)
  const undoSince = (of: Token, since: number) =>
    askUndo({
      base,
      of: { actor: of.id, since: new Date(since).toISOString() },
      about: <DoneSince {...of} at={since} />,
    })
  return (
    <ListPage
      nav={words.nav.agents}
      title={words.agents.title}
      about={words.agents.about}
      bar={<ConnectButton base={base} />}
      isOpen={id !== undefined || endpointId !== undefined}
      tools={
        <div className="chips">
          {usage.isKnown && (
            <Segments
              label={words.agents.span}
              options={words.agents.spans}
              value={span}
              onChange={(each) => change({ span: each === '24h' ? undefined : each })}
            />
          )}
          {isAdmin && <Button icon="plus" label={words.token.make} onClick={() => setMaking(true)} />}
        </div>
      }
      gone={id !== undefined && !token && !tokens.isPending && words.agents.gone}
      panel={
        <>
          {token && (
            <TokenPanel
              key={token.id}
              base={base}
              token={token}
              usage={usage}
              span={span}
              onUndo={(since) => undoSince(token, since)}
              onRevoke={() => setRevoked(token)}
            />
          )}
          {endpointId !== undefined && (
            <EndpointPanel key={endpointId} base={base} id={endpointId} tokens={tokens.rows} />
          )}
          {/* It outlives the panel: a token that is revoked is gone from the list. */}
          {revoked && (
            <Revoke
              base={base}
              token={revoked}
              onClose={() => setRevoked(undefined)}
              onUndo={() => undoSince(revoked, Date.parse(revoked.created_at))}
            />
          )}
          {isMaking && <NewToken base={base} endpoints={endpoints.rows} onClose={() => setMaking(false)} />}
        </>
      }
    >
      <Pauses base={base} />
      {tokens.isOwn && <p className="meta">{words.agents.ownOnly}</p>}
      {pendingOf(tokens, 6) ?? <Tokens base={base} tokens={tokens.rows} usage={usage} selected={id} />}
      {endpoints.error ? (
        <Failure of={endpoints.error} />
      ) : (
        // Below a list that is still to come, they would move.
        !tokens.isPending && (
          <Endpoints base={base} endpoints={endpoints.rows} tokens={tokens.rows} selected={endpointId} />
        )
      )}
    </ListPage>
  )
}

type TokensProps = {
  base: string
  tokens: readonly Token[]
  usage: ReturnType<typeof useUsage>
  selected: string | undefined
}

/** Who may come in: a row for each token, with what it used. */
function Tokens({ base, tokens, usage, selected }: TokensProps) {
  const search = useSearch()
  const paused = new Set(usePauses(base).map(({ pause }) => pause.token_id))
  if (tokens.length === 0) return <Empty title={words.agents.none} />
  const heads = words.agents.heads
  const shown = (count: number) => (usage.isThere ? whole.format(count) : '')
  const failed = (count: number) => <span className={count > 0 ? 'failed-word' : ''}>{shown(count)}</span>
  const mayOf = ({ id, grants }: Token) => [
    ...(paused.has(id) ? [words.pause.is] : []),
    ...grants.filter((grant) => reaches(grant, base)).map(grantWords),
  ]
  const used: TableColumn<Token>[] = [
    [heads.calls, (token) => shown(usage.sum(token).calls), 'number-cell'],
    [heads.failed, (token) => failed(usage.sum(token).failed), 'number-cell'],
    [heads.changed, (token) => shown(usage.sum(token).changes), 'number-cell wide-only'],
  ]
  return (
    <Table
      label={words.agents.title}
      columns={[
        [heads.who, (token) => <Who {...token} />],
        [heads.kind, (token) => words.kinds[token.kind], 'wide-only kind-cell meta'],
        [heads.may, (token) => <Text>{[...new Set(mayOf(token))].join('; ')}</Text>, 'wide-only meta'],
        ...(usage.isKnown ? used : []),
        [
          heads.last,
          ({ last_used_at: last }) =>
            last === null ? <span className="meta">{words.token.never}</span> : <Time at={last} as="span" />,
          'number-cell',
        ],
      ]}
      rows={tokens}
      keyOf={({ id }) => id}
      addressOf={({ id }) => `${to.agents(base, id)}${search && `?${search}`}`}
      selected={selected}
    />
  )
}
