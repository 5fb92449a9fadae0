/** What waits for a person: change-sets that change the record, and linked records in such a state. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { to } from '../../addresses.ts'
import { type ChangeSet, type Edit, newKey, pathOf, type Row, useWrite } from '../../api/queries.ts'
import { Failure, sayDone } from '../../parts/answer.tsx'
import { Button } from '../../parts/button.tsx'
import { Section } from '../../parts/card.tsx'
import { ChangesInLine, changesOf } from '../../parts/diff.tsx'
import { useMay } from '../../parts/grants.ts'
import { LinkButton, TextLink } from '../../parts/link.tsx'
import { itemsOf, Menu } from '../../parts/menu.tsx'
import {
  fieldsOf,
  isAbout,
  isSmall,
  named,
  proposalOf,
  shortName,
  sizeOf,
  wholeIn,
} from '../../parts/proposal.ts'
import { stateField } from '../../parts/record-types.ts'
import { OnRecord } from '../../parts/review/on-record.tsx'
import { useRights, useSaid } from '../../parts/review/opinion.tsx'
import { Chip, EDITED, Text } from '../../parts/text.tsx'
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
    <Section title={words.record.waiting} count={count}>
      <ul className="stack full tiles">
        {sets.map(
          ({ id, change_set: set }) => set && <Proposed key={id} from={id} {...{ place, related, set }} />,
        )}
        {waiting.map((each) => (
          <LinkedRecord key={each.of.relationship.id} base={base} {...each}>
            <Decide base={base} {...each} />
          </LinkedRecord>
        ))}
      </ul>
    </Section>
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
      ({ version }) => sayDone(words.record.saved(version), base, request),
      { 'if-match': `"${record.version}"`, 'x-request-id': request },
    )
  return (
    <>
      <Menu
        className="to-start"
        label={words.record.decide}
        items={itemsOf(
          ends.map((value) => [value, <Text key={String(value)}>{String(value)}</Text>]),
          decide,
        )}
      />
      {write.error && <Failure of={write.error} />}
    </>
  )
}

type ProposedProps = Props & { from: string; set: ChangeSet }

/** What a change-set makes of the record and its links. It is decided here, or on its own page beside all else that it changes. */
function Proposed({ place, related, from, set }: ProposedProps) {
  const { base, type, id } = place
  const [isWhole, setWhole] = useState(isSmall(set))
  const only = !isWhole && { resources: [{ kind: 'record', record_type: type, id }] }
  const plan = useQuery(proposalOf(base, { from, ...only }))
  const links = related.data?.data.map(({ relationship }) => relationship.id) ?? []
  const edits = (plan.data?.changes ?? [])
    .filter((edit) => isOf(place, edit) || links.includes(edit.id))
    .sort((one, other) => Number(one.kind !== 'record') - Number(other.kind !== 'record'))
  const said = useSaid(from, true).data?.data ?? []
  // Who asked for a decision does not decide.
  const asked = set.status === 'submitted' && { request: {} }
  const rights = useRights(base, { from, set, by: { name: set.created_by_name }, ...asked }, edits)
  return (
    <li className="stack gap-1 box">
      <span className="note">
        <Text>{set.created_by_name}</Text> {words.record.proposes}
      </span>
      <span>
        <TextLink href={to.review(base, from)} text={set.title ?? shortName(from)} />{' '}
        <Chip tone="info">{words.review.statuses[set.status]}</Chip>
      </span>
      {edits.map(({ kind, id: of, op, title, diff }) => (
        <span key={of}>
          {kind !== 'record' && <Text>{title ?? of}</Text>}{' '}
          {op !== 'update' && <Chip tone={EDITED[op]}>{words.review.states[op]}</Chip>}
          {op === 'update' && <ChangesInLine changes={changesOf(diff)} />}
        </span>
      ))}
      {!isWhole && <span className="note">{words.record.large(sizeOf(set))}</span>}
      <OnRecord
        of={{
          ...{ base, from, revision: plan.data?.revision, mayReview: rights.mayReview },
          maySay: rights.maySay && edits.length > 0,
          onRenew: () => void plan.refetch(),
        }}
        resources={edits.map(named)}
        fields={edits.flatMap((edit) => (edit.kind === 'record' ? fieldsOf(edit) : []))}
        said={said.filter((each) => edits.some((edit) => isAbout(edit, each.resources)))}
        label={rights.mayReview ? words.record.decide : words.review.saySomething}
      >
        <LinkButton href={to.review(base, from, { first: `${type}/${id}` })} label={words.nav.review} />
        {!isWhole && <Button label={words.record.itsLinks} onClick={() => setWhole(true)} />}
      </OnRecord>
    </li>
  )
}

/** Whether an edit is of the record, or of a link at whose ends it is. A link that stays does not say where it ends. */
function isOf({ type, id }: Place, { kind, id: of, diff }: Edit): boolean {
  if (kind === 'record') return of === `${type}/${id}`
  const link = wholeIn(diff)
  return ['source', 'target'].some((end) => link?.[`${end}_record_type`] === type && link[`${end}_id`] === id)
}
