/** A record or relationship that a change-set changes: its fields, what production changed meanwhile, and whether it goes along. */
import { useId } from 'react'
import { Link } from 'wouter'
import { to } from '../../addresses.ts'
import type { Data, Json, RecordType, Row } from '../../api/shapes.ts'
import { Chip } from '../../parts/chip.tsx'
import { ChangesInTable, changesOf } from '../../parts/diff.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Text } from '../../parts/plain-text.tsx'
import { nameOf, titleOf } from '../../parts/record-types.ts'
import { fieldName } from '../../parts/text.ts'
import { Value } from '../../parts/value.tsx'
import { words } from '../../words.ts'
import { type Choices, type Conflict, fieldOf, keyOf } from './choices.ts'
import { type Edit, recordOf } from './load.ts'
import { TONES } from './resource-change.tsx'

type Props = {
  base: string
  edit: Edit
  /** What production has. */
  stored: Row | undefined
  types: readonly RecordType[]
  conflicts: readonly Conflict[]
  choices: Choices
}

export function RecordChange({ base, edit, stored, types, conflicts, choices }: Props) {
  const { kind, op, diff } = edit
  const isRecord = kind === 'record'
  const [type, id] = isRecord ? recordOf(edit) : ['', edit.id]
  const definition = types.find((each) => each.id === type)
  const isThere = isRecord && op !== 'create'
  const made = diff[0]?.path === '' ? (diff[0].value as { data?: Data } | undefined)?.data : undefined
  const title = titleOf({ id, data: stored?.data ?? made ?? {} }, definition)
  const key = keyOf(edit)
  const isLeft = choices.left.has(key)
  return (
    <section className="card review-resource">
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
        <Chip tone={TONES[op]}>
          {op === 'update' ? words.review.changes(diff.length) : words.review.states[op]}
        </Chip>
        <label className="review-along">
          <input type="checkbox" checked={!isLeft} onChange={() => choices.onLeave(key)} />{' '}
          {words.review.along}
        </label>
      </header>
      {op !== 'delete' && <ChangesInTable changes={changesOf(diff).filter(({ from, to }) => from !== to)} />}
      {!isLeft &&
        conflicts.map((conflict) => <Choice key={conflict.path} conflict={conflict} choices={choices} />)}
    </section>
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
    <fieldset className="amber review-conflict">
      <legend>
        {field === undefined
          ? (words.review.conflicts[code ?? ''] ?? words.review.bothSides)
          : words.review.fieldToo(fieldName(field))}
      </legend>
      {(['preview', 'production'] as const).map((side) => {
        const value = valueIn(conflict[side])
        return (
          <label key={side}>
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
