/** A plan or a proposal: what it changes field by field, and the person's decision. */
import { useState } from 'react'
import type { Edit, Json } from '../api/shapes.ts'
import { Button } from '../parts/button.tsx'
import { ChangesInTable, changesOf } from '../parts/diff.tsx'
import { Chip, EDITED, Text } from '../parts/text.tsx'
import { Failure, useWork } from './frame.tsx'
import { type Body, callTool, openLink, pageKey, type Result, tellModel } from './host.ts'
import { words } from './words.ts'

type Change = Omit<Edit, 'diff'> & Partial<Pick<Edit, 'diff'>> & { record_type?: string | null }
type Choice = 'accept' | 'send_back' | 'decline'
type Details = {
  changes?: { changes: Change[]; more: number }
  request?: { title?: string; note?: string | null; by?: { name: string } }
  url?: string
  decision?: string
}

/** The plan in an answer, if it has one. */
export const planIn = ({ body }: Result): Body | undefined =>
  typeof body['plan'] === 'object' && body['plan'] !== null ? (body['plan'] as Body) : undefined

type Props = { result: Result; onDone: (result: Result, said: string) => void }

/** What was planned may have changed when the person decides: then the new plan is shown. */
export function Plan({ result: first, onDone }: Props) {
  const [result, setResult] = useState(first)
  const { body, meta } = result
  const plan = planIn(result)
  const details = (meta['plinth/view'] ?? {}) as Details
  const decision = details.decision ?? (meta['plinth/decision'] as string | undefined)
  const { request, url } = details
  const { changes = [], more = 0 } = details.changes ?? {}
  const what = String(plan?.['what'] ?? request?.title ?? body['from'] ?? '')
  return (
    <section>
      <Text in="h1">{what}</Text>
      {request?.by && (
        <p className="note">
          {words.by} <Text>{request.by.name}</Text>
        </p>
      )}
      {request?.note && <Text in="p">{request.note}</Text>}
      {plan && changes.length === 0 && <Counts plan={plan} />}
      {changes.map((change) => (
        <ChangeCard key={`${change.kind} ${change.record_type ?? ''} ${change.id}`} change={change} />
      ))}
      {more > 0 && <p className="note">{words.more(more)}</p>}
      <Obstacles title={words.decide.breaks} of={body['breaks']} />
      <Obstacles title={words.decide.conflicts} of={body['conflicts']} />
      <Obstacles title={words.decide.skipped} of={plan?.['skipped']} />
      {decision === undefined ? (
        <Elsewhere url={url} text={words.decide[url ? 'elsewhere' : request ? 'waits' : 'nothing']} />
      ) : (
        <Decide
          key={decision}
          decision={decision}
          isRequest={details.decision !== undefined}
          onDone={(next, choice) => {
            if (planIn(next)) return setResult(next)
            tellModel(words.decide.told(choice, what))
            onDone(next, words.decide.outcome[choice])
          }}
        />
      )}
    </section>
  )
}

function ChangeCard({ change: { kind, id, op, title, record_type, diff = [] } }: { change: Change }) {
  const fields = changesOf(diff).filter(({ from, to }) => from !== to)
  const name = record_type ? `${record_type}/${id}` : id
  return (
    <article className="card">
      <header>
        <Text in="h2">{title ?? name}</Text>
        {title && <Text className="note">{name}</Text>}
        <span className="note">{kind.replaceAll('_', ' ')}</span>
        <Chip tone={EDITED[op]}>{words.decide.states[op]}</Chip>
      </header>
      {op !== 'delete' && fields.length > 0 && <ChangesInTable changes={fields} />}
    </article>
  )
}

/** What a deletion takes, by type, and the names of the first. */
function Counts({ plan }: { plan: Body }) {
  const groups = Object.entries(plan).flatMap(([name, group]) =>
    typeof group === 'object' && group !== null && !Array.isArray(group) && 'count' in group
      ? [[name, group] as const]
      : [],
  )
  const samples = (plan['samples'] ?? []) as Json[]
  const titles = (plan['titles'] ?? []) as Json[]
  return (
    <article className="card">
      {groups.map(([name, { count, by_type: types }]) => (
        <p key={name}>
          {name.replaceAll('_', ' ')}: {Number(count)}
          {typeof types === 'object' && types !== null && (
            <Text className="note">{` ${Object.entries(types)
              .map((each) => each.join(' '))
              .join(', ')}`}</Text>
          )}
        </p>
      ))}
      <ul className="items">
        {samples.slice(0, 10).map((name, at) => (
          <li key={String(name)}>
            {typeof titles[at] === 'string' && <Text>{titles[at]}</Text>} <Chip>{String(name)}</Chip>
          </li>
        ))}
      </ul>
    </article>
  )
}

const LISTED = 10

function Obstacles({ title, of }: { title: string; of: Json | undefined }) {
  if (!Array.isArray(of) || of.length === 0) return null
  return (
    <div className="amber">
      <h2>{title}</h2>
      <ul>
        {(of as Body[]).slice(0, LISTED).map((each, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: obstacles have no name of their own
          <li key={at}>
            <Text>{`${String(each['path'] ?? each['id'] ?? '')} ${String(each['message'] ?? each['code'] ?? '')}`}</Text>
          </li>
        ))}
      </ul>
      {of.length > LISTED && <p className="note">{words.more(of.length - LISTED)}</p>}
    </div>
  )
}

/** Where the token of the chat may not decide. */
export function Elsewhere({ url, text }: { url: string | undefined; text: string }) {
  return (
    <footer>
      <p className="note">{text}</p>
      {url !== undefined && <Button label={words.decide.open} onClick={() => openLink(url)} />}
    </footer>
  )
}

type DecideProps = {
  decision: string
  isRequest: boolean
  onDone: (result: Result, choice: Choice) => void
}

function Decide({ decision, isRequest, onDone }: DecideProps) {
  const { isBusy, failure, run } = useWork()
  const [note, setNote] = useState('')
  const decide = (choice: Choice) =>
    run(async () => {
      const sent = { decision, page: pageKey(), choice, ...(note !== '' && { note }) }
      const result = await callTool('decide', sent)
      if (result.error === undefined) onDone(result, choice)
      return result.error
    })
  return (
    <footer>
      {isRequest && (
        <input
          aria-label={words.decide.note}
          placeholder={words.decide.note}
          value={note}
          onInput={({ currentTarget }) => setNote(currentTarget.value)}
        />
      )}
      {failure !== undefined && <Failure text={failure} />}
      <div className="buttons">
        <button type="button" className="primary" disabled={isBusy} onClick={() => decide('accept')}>
          {words.decide.accept}
        </button>
        {isRequest && (
          <Button
            label={words.decide.sendBack}
            disabled={isBusy || note === ''}
            onClick={() => decide('send_back')}
          />
        )}
        <Button label={words.decide.decline} disabled={isBusy} onClick={() => decide('decline')} />
      </div>
    </footer>
  )
}
