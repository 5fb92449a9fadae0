/** Beside the feed: what waits for a person, what fails, and what is in work. */
import { useQueryClient } from '@tanstack/react-query'
import { to } from '../../addresses.ts'
import { pathOf, staleSoon, useFailing, useTypes, useWaiting, useWrite } from '../../api/queries.ts'
import type { Delivery } from '../../api/shapes.ts'
import { say } from '../../parts/answer.tsx'
import { Button, Icon } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { useMay } from '../../parts/grants.ts'
import { LinkButton, TextLink } from '../../parts/link.tsx'
import { misfits } from '../../parts/proposal.ts'
import { cut, span, Text, useNow, visible, whole } from '../../parts/text.tsx'
import { Shape } from '../../parts/who.tsx'
import { quoted, words } from '../../words.ts'
import { useClaims } from './load.ts'

export function Rail({ base, since }: { base: string; since: string }) {
  return (
    <aside className="rail" aria-label={words.activity.now}>
      <Waiting base={base} />
      <Failing base={base} since={since} />
      <InWork base={base} />
    </aside>
  )
}

function Waiting({ base }: { base: string }) {
  const { data } = useWaiting(base)
  const types = useTypes(base).data ?? []
  if (!data) return null
  return (
    <Card title={words.activity.waiting} note={data.meta.total}>
      {data.data.length === 0 && <p className="card-item note">{words.review.none}</p>}
      {data.data.map(({ id, kind, title, by, summary, breaks }) => (
        <div key={id} className="card-item">
          <strong className="who">
            <Shape {...by} />
            <Text>{title}</Text>
          </strong>
          <Text className="note">{summary}</Text>
          {breaks.length > 0 && <span className="changed-word">{misfits(breaks, 0, types)}</span>}
          <LinkButton label={words.nav.review} href={to.review(base, kind === 'pause' ? undefined : id)} />
        </div>
      ))}
    </Card>
  )
}

const REASON_CHARS = 120

/** Why it failed: what the other side answered says more than that it did. */
function Why({ of: { response, response_status: status, error, attempts, direction } }: { of: Delivery }) {
  const answer = response?.body.trim()
  return (
    <span className="note">
      {status !== null && `${status} · `}
      {direction === 'in' && `${words.activity.refused} `}
      <Text>{answer ? quoted(cut(answer, REASON_CHARS).text) : (error ?? '')}</Text>
      {direction === 'out' && ` · ${words.activity.gaveUp(attempts)}`}
    </span>
  )
}

/** Deliveries by what they are of, the most frequent first. */
const byOrigin = (all: readonly Delivery[]) =>
  Object.values(Object.groupBy(all, ({ of }) => `${of.kind} ${of.id}`))
    .flatMap((group = []) => [group])
    .sort((a, b) => b.length - a.length)

function Failing({ base, since }: { base: string; since: string }) {
  const { total, all } = useFailing(base, since)
  const client = useQueryClient()
  const mayReplay = useMay(base, '*', 'manage')
  const write = useWrite<{ count: number }>(base)
  const replay = pathOf([base, 'deliveries', 'replay'])
  const again = ({ of, status, direction }: Delivery) =>
    write.send('POST', replay, { of: of.id, status, direction }, ({ count }) => {
      say(words.activity.sentAgain(count))
      staleSoon(client, base)
    })
  return (
    <Card title={words.activity.failing} note={total > 0 && whole.format(total)}>
      {all.length === 0 && <p className="card-item note">{words.automation.noDelivery.failed}</p>}
      {byOrigin(all).map((group) => {
        const [newest] = group
        if (!newest) return null
        const { of } = newest
        return (
          <div key={of.id} className="card-item">
            <strong className="who">
              <span className="failed-word">
                <Icon name="warning" />
              </span>
              <Text>{of.name ?? of.id}</Text>
              <span className="note">{whole.format(group.length)}</span>
            </strong>
            <Why of={newest} />
            {mayReplay && (
              <Button
                label={group.length === 1 ? words.automation.again.out : words.activity.sendAllAgain}
                disabled={write.isPending}
                onClick={() => again(newest)}
              />
            )}
          </div>
        )
      })}
      {write.error && <p className="card-item failed-word">{write.error.message}</p>}
    </Card>
  )
}

function InWork({ base }: { base: string }) {
  const now = useNow()
  const { data } = useClaims(base)
  if (!data) return null
  return (
    <Card title={words.activity.inWork} note={data.data.length > 0 && whole.format(data.data.length)}>
      {data.data.length === 0 && <p className="card-item note">{words.activity.nobodyWorks}</p>}
      <ul className="in-work">
        {data.data.map(({ id, record_type, record_id, title, holder, expires_at }) => (
          <li key={id} className="chips over">
            <Shape name={holder?.name ?? words.nobody} kind={holder?.kind} />
            <TextLink
              className="ink grow ellipsis"
              href={to.record(base, record_type, record_id)}
              text={title ?? record_id}
            />
            <span className="note">{words.record.left(span(Date.parse(expires_at) - now))}</span>
            <span className="note holder">
              {words.activity.heldBy(visible(holder?.name ?? words.nobody))}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  )
}
