/** What waits for a person: change-sets that change the record, and linked records in such a state. */
import { useState } from 'react'
import { to } from '../../addresses.ts'
import { pathOf, useAsk, useWrite } from '../../api/queries.ts'
import { newKey } from '../../api/send.ts'
import type { Base, Data, Edit, Row } from '../../api/shapes.ts'
import { Chip } from '../../parts/chip.tsx'
import { ChangesInLine, changesOf } from '../../parts/diff.tsx'
import { Failure } from '../../parts/failure.tsx'
import { useMay } from '../../parts/grants.ts'
import { LinkButton, TextLink } from '../../parts/link.tsx'
import { Menu } from '../../parts/menu.tsx'
import { Text } from '../../parts/plain-text.tsx'
import { shortName } from '../../parts/previews.ts'
import { isSmall, sizeOf, TONES } from '../../parts/proposal.ts'
import { stateField } from '../../parts/record-types.ts'
import { say } from '../../parts/toast.tsx'
import { askUndo } from '../../parts/undo/asked.ts'
import { words } from '../../words.ts'
import { type Linked, LinkedRecord, useParts, WAITING } from './links.tsx'
import { type Place, useProposals, type useRelated } from './load.ts'

type Props = { place: Place; related: ReturnType<typeof useRelated> }

export function Waiting({ place, related }: Props) {
  const { base } = place
  const { waiting } = useParts({ place, related })
  const sets = useProposals(place).data?.data ?? []
  const count = waiting.length + sets.length
  if (count === 0) return null
  return (
    <section className="section" aria-label={words.record.waiting}>
      <h2>
        {words.record.waiting} <span className="note">{count}</span>
      </h2>
      <ul className="tiles">
        {sets.map((set) => (
          <Proposal key={set.id} {...{ place, related, set }} />
        ))}
        {waiting.map((each) => (
          <LinkedRecord key={each.of.relationship.id} base={base} {...each}>
            <Decide base={base} {...each} />
          </LinkedRecord>
        ))}
      </ul>
    </section>
  )
}

/** What a change-set makes of the record. It is decided on its own page, beside all else that it changes. */
function Proposal({ place, related, set }: Props & { set: Base }) {
  const { base, type, id } = place
  const { change_set: state } = set
  const named = state && !isSmall(state) && { resources: [{ kind: 'record', record_type: type, id }] }
  const { data } = useAsk<{ changes: Edit[] }>(pathOf([base, 'promote', 'proposal']), {
    from: set.id,
    ...named,
  })
  if (!state) return null
  const links = related.data?.data.map(({ relationship }) => relationship.id) ?? []
  return (
    <li>
      <span className="note">
        <Text>{state.created_by_name}</Text> {words.record.proposes}
      </span>
      <span>
        <TextLink href={to.review(base, set.id)} text={state.title ?? shortName(set.id)} />{' '}
        <Chip tone="info">{words.review.statuses[state.status]}</Chip>
      </span>
      {data?.changes
        .filter((edit) => isOf(place, edit) || links.includes(edit.id))
        .map(({ kind, id: of, op, title, diff }) => (
          <span key={of}>
            {kind !== 'record' && <Text>{title ?? of}</Text>}{' '}
            {op !== 'update' && <Chip tone={TONES[op]}>{words.review.states[op]}</Chip>}
            {op === 'update' && <ChangesInLine changes={changesOf(diff)} />}
          </span>
        ))}
      {!isSmall(state) && <span className="note">{words.record.large(sizeOf(state))}</span>}
      <LinkButton href={to.review(base, set.id, { first: `${type}/${id}` })} label={words.review.open} />
    </li>
  )
}

/** Whether an edit is of the record, or of a link at whose ends it is. A link that stays does not say where it ends. */
function isOf({ type, id }: Place, { kind, id: of, diff: [step] }: Edit): boolean {
  if (kind === 'record') return of === `${type}/${id}`
  const link = (step?.path === '' ? (step.value ?? step.before) : undefined) as Data | undefined
  return ['source', 'target'].some((end) => link?.[`${end}_record_type`] === type && link[`${end}_id`] === id)
}

/** The states that end the wait. */
function Decide({ base, of: { record }, type, state }: Linked & { base: string }) {
  const [request] = useState(newKey)
  const mayWrite = useMay(base, record.record_type, 'write')
  const write = useWrite<Row>(base)
  const field = type && stateField(type)
  const ends = (field?.values ?? []).filter((value) => value !== state && !WAITING.test(String(value)))
  if (!mayWrite || !field || ends.length === 0) return null
  const decide = (value: (typeof ends)[number]) =>
    write.send(
      'PATCH',
      pathOf([base, 'records', record.record_type, record.id]),
      { data: { [field.name]: value } },
      ({ version }) =>
        say(words.record.saved(version), {
          label: words.undo.verb,
          onSelect: () => askUndo({ base, of: { request_id: request } }),
        }),
      { 'if-match': `"${record.version}"`, 'x-request-id': request },
    )
  return (
    <>
      <Menu
        className=""
        label={words.record.decide}
        items={ends.map((value) => ({
          label: <Text>{String(value)}</Text>,
          onSelect: () => decide(value),
        }))}
      />
      {write.error && <Failure of={write.error} />}
    </>
  )
}
