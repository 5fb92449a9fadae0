/** What is linked with the record, by title. What waits for a person is apart. */
import type { ReactNode } from 'react'
import { to } from '../../addresses.ts'
import { type RecordType, useTypes } from '../../api/queries.ts'
import { Empty, pendingOf } from '../../parts/answer.tsx'
import { Button } from '../../parts/button.tsx'
import { Section } from '../../parts/card.tsx'
import { TextLink } from '../../parts/link.tsx'
import { fieldsOf, nameOf, stateField, titleField, titleOf, valueAt } from '../../parts/record-types.ts'
import { Chip, cut, fieldName, Text, toneOf } from '../../parts/text.tsx'
import { words } from '../../words.ts'
import type { Place, Related, useRelated } from './load.ts'

const FEW = 4
export const WAITING = /^(proposed|pending|requested|submitted|awaiting|needs[ _-]approval)$/i

type Props = { place: Place; related: ReturnType<typeof useRelated> }

/** The linked records, those that wait apart. */
export function useParts({ place, related }: Props) {
  const types = useTypes(place.base).data ?? []
  const all = (related.data?.data ?? []).map((of): Linked => {
    const type = types.find(({ id }) => id === of.record.record_type)
    return { of, type, state: stateIn(of, type) }
  })
  const isWaiting = ({ state }: Linked) => WAITING.test(state ?? '')
  return { waiting: all.filter(isWaiting), rest: all.filter((each) => !isWaiting(each)) }
}

export function Links({ isAll, onAll, ...props }: Props & { isAll: boolean; onAll: () => void }) {
  const { waiting, rest } = useParts(props)
  const pending = pendingOf(props.related, 3)
  if (pending !== undefined) return isAll ? pending : null
  if (isAll && waiting.length + rest.length === 0) return <Empty title={words.record.noLinks} />
  if (rest.length === 0) return null
  return (
    <Section title={words.record.tabs.links} count={rest.length}>
      <ul className="stack full tiles">
        {(isAll ? rest : rest.slice(0, FEW)).map((each) => (
          <LinkedRecord key={each.of.relationship.id} base={props.place.base} {...each} />
        ))}
      </ul>
      {!isAll && rest.length > FEW && (
        <Button className="quiet" label={words.record.all(rest.length)} onClick={onAll} />
      )}
    </Section>
  )
}

export type Linked = { of: Related; type: RecordType | undefined; state: string | undefined }

function stateIn({ record }: Related, type: RecordType | undefined): string | undefined {
  const field = type && stateField(type)
  const value = field && valueAt(record, field)
  return typeof value === 'string' ? value : undefined
}

type LinkedRecordProps = Linked & { base: string; children?: ReactNode }

export function LinkedRecord({ base, of, type, state, children }: LinkedRecordProps) {
  const { relationship, record } = of
  const title = titleOf(record, type)
  const own = type && titleField(type)
  const prose =
    type &&
    fieldsOf(type).find(
      (field) =>
        field.name !== own &&
        !field.isState &&
        typeof valueAt(record, field) === 'string' &&
        String(valueAt(record, field)).length > 30,
    )
  const text = prose && valueAt(record, prose)
  return (
    <li className="stack gap-1 box">
      <Text className="note">{`${fieldName(relationship.rel_type)} · ${nameOf(type, record.record_type).toLowerCase()}`}</Text>
      <span>
        <TextLink href={to.record(base, record.record_type, record.id)} text={title} />{' '}
        {state !== undefined && <Chip tone={toneOf(state)}>{state}</Chip>}
      </span>
      {typeof text === 'string' && text !== title && <Text className="faint">{cut(text, 160).text}</Text>}
      {children}
    </li>
  )
}
