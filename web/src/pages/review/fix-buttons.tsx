/** What can be done for records that would not fit: a button for what is most likely meant, and a choice of the rest. */
import { type FormEvent, useState } from 'react'
import type { Json } from '../../api/shapes.ts'
import { Button } from '../../parts/button.tsx'
import { itemsOf, Menu } from '../../parts/menu.tsx'
import { fieldName, Text } from '../../parts/text.tsx'
import { words } from '../../words.ts'
import type { MigrationStep } from './load.ts'
import type { Fix } from './schema.ts'

type Props = { fix: Fix; onChoose: (steps: readonly MigrationStep[]) => void }

export function FixButtons({ fix, onChoose }: Props) {
  if (fix.kind === 'repeat')
    return <Button label={words.review.fixes.repeat} onClick={() => onChoose(fix.steps)} />
  if (fix.kind === 'cast' || fix.kind === 'drop') {
    const { kind: op, ...step } = fix
    const label =
      fix.kind === 'cast'
        ? words.review.fixes.cast(words.schema.of({ type: fix.type }))
        : words.review.fixes.drop(fieldName(fix.field))
    return <Button label={<Text>{label}</Text>} onClick={() => onChoose([{ op, ...step }])} />
  }
  const choose = (value: Json) =>
    onChoose([
      fix.kind === 'replace'
        ? { op: 'replace', field: fix.field, from: fix.from, value }
        : { op: 'default', field: fix.field, value },
    ])
  const { first = null, choices } = fix
  if (fix.kind === 'default' && fix.first === undefined) return <Typed fix={fix} onChoose={choose} />
  const others = choices.filter((value) => value !== first)
  return (
    <>
      <Button label={<Text>{words.review.fixes.set(String(first))}</Text>} onClick={() => choose(first)} />
      {others.length > 0 && (
        <Menu
          label={words.review.fixes.another}
          items={itemsOf(
            others.map((value) => [value, <Text key={String(value)}>{String(value)}</Text>]),
            choose,
          )}
        />
      )}
    </>
  )
}

type TypedProps = { fix: Extract<Fix, { kind: 'default' }>; onChoose: (value: Json) => void }

/** A value for a field that has no list of them. */
function Typed({ fix, onChoose }: TypedProps) {
  const [text, setText] = useState('')
  const { type, format } = fix.schema
  const isNumber = type === 'number' || type === 'integer'
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onChoose(isNumber ? Number(text) : text)
  }
  return (
    <form className="row" onSubmit={submit}>
      <input
        aria-label={words.review.fixes.value(fieldName(fix.field))}
        type={isNumber ? 'number' : format === 'date' ? 'date' : 'text'}
        step={type === 'integer' ? 1 : 'any'}
        required
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <button type="submit">{words.review.fixes.give}</button>
    </form>
  )
}
