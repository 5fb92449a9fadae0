/** What waits for a person: change-sets that change the record, and linked records in such a state. */
import { useState } from 'react'
import { to } from '../../addresses.ts'
import { pathOf, useRead, useWrite } from '../../api/queries.ts'
import { newKey } from '../../api/send.ts'
import type { Base, Change, Page, Row } from '../../api/shapes.ts'
import { Chip } from '../../parts/chip.tsx'
import { ChangesInLine, changesOf } from '../../parts/diff.tsx'
import { Failure } from '../../parts/failure.tsx'
import { useMay } from '../../parts/grants.ts'
import { LinkButton, TextLink } from '../../parts/link.tsx'
import { Menu } from '../../parts/menu.tsx'
import { Text } from '../../parts/plain-text.tsx'
import { shortName } from '../../parts/previews.ts'
import { stateField } from '../../parts/record-types.ts'
import { say } from '../../parts/toast.tsx'
import { askUndo } from '../../parts/undo/asked.ts'
import { words } from '../../words.ts'
import { type Linked, LinkedRecord, useParts, WAITING } from './links.tsx'
import { type Place, useProposals, type useRelated } from './load.ts'

export function Waiting({ place, related }: { place: Place; related: ReturnType<typeof useRelated> }) {
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
          <Proposal key={set.id} place={place} set={set} />
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
function Proposal({ place: { base, type, id }, set }: { place: Place; set: Base }) {
  const { data } = useRead<Page<Change>>(
    pathOf([set.id, 'changes'], { record_type: type, id, include: 'before', max_string: 120, limit: 1 }),
  )
  const { change_set: state } = set
  if (!state) return null
  return (
    <li>
      <span className="note">
        <Text>{state.created_by_name}</Text> {words.record.proposes}
      </span>
      <span>
        <TextLink href={to.review(base, set.id)} text={state.title ?? shortName(set.id)} />{' '}
        <Chip tone="info">{words.review.statuses[state.status]}</Chip>
      </span>
      {data?.data.map((change) => (
        <ChangesInLine key={change.seq} changes={changesOf(change.diff)} />
      ))}
      <LinkButton href={to.review(base, set.id, { first: `${type}/${id}` })} label={words.review.open} />
    </li>
  )
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
