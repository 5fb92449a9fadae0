/** A record or relationship that a change-set changes: its fields, what production changed meanwhile, and whether it goes along. */
import { useId } from 'react'
import { Link } from 'wouter'
import { to } from '../../addresses.ts'
import type { Data, Json, RecordType, Row } from '../../api/shapes.ts'
import { Icon } from '../../parts/button.tsx'
import { ChangesInTable, changesOf } from '../../parts/diff.tsx'
import { fieldsOf, keyOf, named, recordOf } from '../../parts/proposal.ts'
import { nameOf, titleOf } from '../../parts/record-types.ts'
import { OnRecord, type Sending } from '../../parts/review/on-record.tsx'
import type { Said } from '../../parts/review/opinion.tsx'
import { Chip, EDITED, fieldName, Text, visible } from '../../parts/text.tsx'
import { Value } from '../../parts/value.tsx'
import { words } from '../../words.ts'
import { Along, type Choices, fieldOf } from './choices.tsx'
import type { Conflict, Edit } from './load.ts'

type Props = {
  base: string
  edit: Edit
  /** What production has, where the edit has no title. */
  stored: Row | undefined
  types: readonly RecordType[]
  conflicts: readonly Conflict[]
  choices: Choices
  said: readonly Said[]
  isMoved: boolean
  of: Sending | undefined
}

export function RecordChange({ base, edit, stored, types, conflicts, choices, said, isMoved, of }: Props) {
  const { kind, op, diff } = edit
  const isRecord = kind === 'record'
  const [type, id] = isRecord ? recordOf(edit) : ['', edit.id]
  const definition = types.find((each) => each.id === type)
  const isThere = isRecord && op !== 'create'
  const made = diff[0]?.path === '' ? (diff[0].value as { data?: Data } | undefined)?.data : undefined
  const row = { id, data: stored?.data ?? made ?? {}, ...(edit.title && { title: edit.title }) }
  const title = isRecord ? titleOf(row, definition) : (edit.title ?? id).replace(/^\w+/, fieldName)
  const isLeft = choices.left.has(keyOf(edit))
  return (
    <article className="card review-resource" aria-label={visible(title)}>
      <header>
        <Icon name={isRecord ? 'table' : 'link'} />
        {isThere ? (
          <Link href={to.record(base, type, id)}>
            <Text in="h2">{title}</Text>
          </Link>
        ) : (
          <Text in="h2">{title}</Text>
        )}
        <span className="meta">
          {isRecord ? nameOf(definition, type).toLowerCase() : words.review.kindNames['relationship']}
        </span>
        <Chip tone={EDITED[op]}>
          {op === 'update' ? words.review.changes(diff.length) : words.review.states[op]}
        </Chip>
        {isMoved && <Chip tone="changed">{words.review.moved}</Chip>}
        {of?.mayReview && <Along of={edit} choices={choices} />}
      </header>
      {op !== 'delete' && <ChangesInTable changes={changesOf(diff).filter(({ from, to }) => from !== to)} />}
      {!isLeft &&
        conflicts.map((conflict) => <Choice key={conflict.path} conflict={conflict} choices={choices} />)}
      {of && (
        <OnRecord
          of={of}
          said={said}
          resources={[named(edit)]}
          fields={fieldsOf(edit)}
          label={words.review.saySomething}
        />
      )}
    </article>
  )
}

/** What both sides changed: which one counts. */
function Choice({ conflict, choices }: { conflict: Conflict; choices: Choices }) {
  const name = useId()
  const { path, code } = conflict
  const field = fieldOf(conflict)
  const valueIn = (steps: Conflict['production']): Json | undefined =>
    steps.find((step) => field !== undefined && step.path === `/${field.replaceAll('.', '/')}`)?.value
  return (
    <fieldset className="amber stack gap-1 review-conflict">
      <legend>
        {field === undefined
          ? (words.review.conflicts[code ?? ''] ?? words.review.bothSides)
          : words.review.fieldToo(fieldName(field))}
      </legend>
      {(['preview', 'production'] as const).map((side) => {
        const value = valueIn(conflict[side])
        return (
          <label key={side} className="row ink">
            <input
              type="radio"
              name={name}
              checked={choices.taken[path] === side}
              onChange={() => choices.onTake(path, side)}
            />{' '}
            {words.review.take[side]} {field !== undefined && value !== undefined && <Value value={value} />}
          </label>
        )
      })}
    </fieldset>
  )
}
