/** One trigger or inbound webhook: what it is, and its deliveries, each with what came of it, and the way to send it again. */
import { useQueryClient } from '@tanstack/react-query'
import { type Delivery, pathOf, staleSoon, useTypes, useWrite } from '../../api/queries.ts'
import { Failure, pendingOf, say } from '../../parts/answer.tsx'
import { Button, More } from '../../parts/button.tsx'
import { CardItem, Facts, Panel } from '../../parts/card.tsx'
import { Copied } from '../../parts/copied.tsx'
import { Segments } from '../../parts/fields.tsx'
import { useMay } from '../../parts/grants.ts'
import { useParameters } from '../../parts/link.tsx'
import { kindName } from '../../parts/proposal.ts'
import { Text } from '../../parts/text.tsx'
import { words } from '../../words.ts'
import { type Automatic, type Counts, listOf, type Span, saying, stopOf, useDeliveries } from './load.ts'
import { DeliveryRow } from './runs.tsx'

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
  const stop = stopOf(of)
  const act = (path: readonly string[], said: (count: number) => string, body?: object) =>
    write.send('POST', pathOf([base, ...path]), body, ({ count = 1 }) => {
      say(said(count))
      staleSoon(client, base)
    })
  const again = ({ id }: Delivery) =>
    act([nouns, of.id, 'deliveries', id, 'replay'], words.activity.sentAgain)
  const direction = of.kind === 'trigger' ? 'out' : 'in'
  const turn = () =>
    write.send('PATCH', pathOf([base, nouns, of.id]), { enabled: !of.isOn }, () =>
      say(words.automation.turned(of.isOn)),
    )
  const rows = list.data ?? []
  return (
    <Panel back={back} title={<Text>{of.name}</Text>} note={kindName(of.kind)}>
      <div className="card-item">
        <Text in="p">{saying(of, types)}</Text>
        {stop !== undefined && (
          <p className="failed-word">
            {words.automation.stoppedBecause} <Text>{stop}</Text>
          </p>
        )}
      </div>
      <Definition of={of} />
      {mayReplay && (
        <p className="card-item chips">
          {(counts?.failed ?? 0) > 0 && (
            <Button
              className="primary"
              label={words.automation.sendAll[direction]}
              disabled={write.isPending}
              onClick={() =>
                act(['deliveries', 'replay'], words.activity.sentAgain, {
                  ...{ of: of.id, status: ends, direction, since: span },
                })
              }
            />
          )}
          {of.kind === 'trigger' && (
            <Button
              label={words.automation.test}
              disabled={write.isPending}
              onClick={() => act([nouns, of.id, 'test'], () => words.automation.tested)}
            />
          )}
          <Button
            label={of.isOn ? words.automation.turnOff : words.automation.turnOn}
            disabled={write.isPending}
            onClick={turn}
          />
        </p>
      )}
      {write.error && <Failure of={write.error} />}
      <CardItem title={words.automation.deliveries}>
        <Segments
          label={words.automation.deliveries}
          options={{ failed: words.automation.onlyFailed[direction], all: words.records.views.all }}
          value={isFailed ? 'failed' : 'all'}
          onChange={(only) => change({ only }, true)}
        />
        {pendingOf(list, 4) ??
          (rows.length === 0 && (
            <p className="meta">{words.automation.noDelivery[isFailed ? 'failed' : 'all']}</p>
          ))}
        <ul className="apart deliveries">
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
        <More of={list} label={words.older} />
      </CardItem>
    </Panel>
  )
}

function Definition({ of }: Pick<Props, 'of'>) {
  const text = words.automation.facts
  if (of.kind === 'trigger')
    return (
      <Facts
        of={{
          [text.address]: of.is.url !== null && <Text>{of.is.url}</Text>,
          [text.attempts]: words.automation.tries(of.is.max_attempts),
        }}
      />
    )
  const refused = of.is.status?.refused ?? 0
  return (
    <>
      <CardItem title={text.address}>
        <Copied label={text.address} text={of.is.ingest_url} />
      </CardItem>
      <Facts
        of={{
          [text.signed]: <Text>{of.is.signature.scheme}</Text>,
          [text.badSignature]: refused > 0 && String(refused),
        }}
      />
    </>
  )
}
