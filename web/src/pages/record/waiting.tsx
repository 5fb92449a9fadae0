/** What waits for a person: change-sets that change the record, and linked records in such a state. */
import { useState } from 'react'
import { pathOf, useWrite } from '../../api/queries.ts'
import { newKey } from '../../api/send.ts'
import type { Row } from '../../api/shapes.ts'
import { Failure } from '../../parts/failure.tsx'
import { useMay } from '../../parts/grants.ts'
import { Menu } from '../../parts/menu.tsx'
import { Text } from '../../parts/plain-text.tsx'
import { stateField } from '../../parts/record-types.ts'
import { sayDone } from '../../parts/toast.tsx'
import { words } from '../../words.ts'
import { type Linked, LinkedRecord, useParts, WAITING } from './links.tsx'
import { type Place, useProposals, type useRelated } from './load.ts'
import { Proposed } from './proposed.tsx'

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
        {sets.map(
          ({ id, change_set: set }) => set && <Proposed key={id} from={id} {...{ place, related, set }} />,
        )}
        {waiting.map((each) => (
          <LinkedRecord key={each.of.relationship.id} base={base} {...each}>
            <Decide base={base} {...each} />
          </LinkedRecord>
        ))}
      </ul>
    </section>
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
