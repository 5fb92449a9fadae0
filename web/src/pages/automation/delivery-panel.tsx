/** One trigger or inbound webhook: what it is, and its deliveries, each with what came of it, and the way to send it again. */
import { useQueryClient } from '@tanstack/react-query'
import { staleSoon, useTypes, useWrite } from '../../api/queries.ts'
import { pathOf } from '../../api/send.ts'
import type { Delivery } from '../../api/shapes.ts'
import { Copied } from '../../parts/copied.tsx'
import { Failure, pendingOf } from '../../parts/failure.tsx'
import { useMay } from '../../parts/grants.ts'
import { Facts, Panel } from '../../parts/panel.tsx'
import { Text } from '../../parts/plain-text.tsx'
import { useParameters } from '../../parts/search.ts'
import { Segments } from '../../parts/segments.tsx'
import { say } from '../../parts/toast.tsx'
import { words } from '../../words.ts'
import { DeliveryRow } from './delivery.tsx'
import { type Automatic, type Counts, listOf, type Span, useDeliveries } from './load.ts'
import { saying } from './saying.ts'

type Props = {
  base: string
  of: Extract<Automatic, { kind: 'trigger' | 'inbound_webhook' }>
  span: Span
  back: string
  counts: Counts | undefined
}

export function DeliveryPanel({ base, of, span, back, counts }: Props) {
  const [search, change] = useParameters()
  const ends = of.kind === 'trigger' ? 'dead' : 'failed'
  const isFailed = search['only'] !== 'all' && (search['only'] === 'failed' || (counts?.failed ?? 0) > 0)
  const list = useDeliveries(base, of.id, isFailed ? ends : undefined, span)
  const types = useTypes(base).data ?? []
  const client = useQueryClient()
  const mayReplay = useMay(base, '*', 'manage')
  const write = useWrite<{ count?: number }>(base)
  const nouns = listOf(of.kind)
  const act = (path: readonly string[], said: (count: number) => string, body?: object) =>
    write.mutate({
      method: 'POST',
      path: pathOf([base, ...path]),
      ...(body && { body }),
      onDone: ({ count = 1 }) => {
        say(said(count))
        staleSoon(client, base)
      },
    })
  const again = ({ id }: Delivery) =>
    act([nouns, of.id, 'deliveries', id, 'replay'], words.activity.sentAgain)
  const direction = of.kind === 'trigger' ? 'out' : 'in'
  const turn = () =>
    write.mutate({
      method: 'PATCH',
      path: pathOf([base, nouns, of.id]),
      body: { enabled: !of.isOn },
      onDone: () => say(words.automation.turned(of.isOn)),
    })
  const rows = list.data ?? []
  return (
    <Panel back={back} title={<Text>{of.name}</Text>} note={words.automation.kindOf[of.kind]}>
      <div className="card-item">
        <Text in="p">{saying(of, types)}</Text>
        {of.hint !== undefined && (
          <p className="failed-word">
            {words.automation.stoppedBecause} <Text>{of.hint}</Text>
          </p>
        )}
      </div>
      <Definition of={of} />
      {mayReplay && (
        <p className="card-item chips">
          {(counts?.failed ?? 0) > 0 && (
            <button
              type="button"
              className="primary"
              disabled={write.isPending}
              onClick={() =>
                act(['deliveries', 'replay'], words.activity.sentAgain, {
                  ...{ of: of.id, status: ends, direction, since: span },
                })
              }
            >
              {words.automation.sendAll[direction]}
            </button>
          )}
          {of.kind === 'trigger' && (
            <button
              type="button"
              disabled={write.isPending}
              onClick={() => act([nouns, of.id, 'test'], () => words.automation.tested)}
            >
              {words.automation.test}
            </button>
          )}
          <button type="button" disabled={write.isPending} onClick={turn}>
            {of.isOn ? words.automation.turnOff : words.automation.turnOn}
          </button>
        </p>
      )}
      {write.error && <Failure of={write.error} />}
      <div className="card-item">
        <h3>{words.automation.deliveries}</h3>
        <Segments
          label={words.automation.deliveries}
          options={{ failed: words.automation.onlyFailed[direction], all: words.automation.all }}
          value={isFailed ? 'failed' : 'all'}
          onChange={(only) => change({ only }, true)}
        />
        {pendingOf(list, 4) ??
          (rows.length === 0 && (
            <p className="meta">{words.automation.noDelivery[isFailed ? 'failed' : 'all']}</p>
          ))}
        <ul className="deliveries">
          {rows.map((delivery) => (
            <DeliveryRow
              key={delivery.id}
              base={base}
              of={delivery}
              {...(mayReplay && { onAgain: () => again(delivery) })}
              isBusy={write.isPending}
            />
          ))}
        </ul>
        {list.hasNextPage && (
          <button type="button" disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            {words.older}
          </button>
        )}
      </div>
    </Panel>
  )
}

function Definition({ of }: Pick<Props, 'of'>) {
  const text = words.automation.facts
  if (of.kind === 'inbound_webhook')
    return (
      <>
        <div className="card-item">
          <h3>{text.address}</h3>
          <Copied label={text.address} text={of.is.ingest_url} />
        </div>
        <Facts
          of={[
            [text.signed, <Text key="signed">{of.is.signature.scheme}</Text>],
            of.is.status !== null &&
              of.is.status.refused > 0 && [text.badSignature, String(of.is.status.refused)],
          ]}
        />
      </>
    )
  const { url, max_attempts: most } = of.is
  return (
    <Facts
      of={[
        url !== null && [text.address, <Text key="url">{url}</Text>],
        most !== null && [text.attempts, words.automation.tries(most)],
      ]}
    />
  )
}
