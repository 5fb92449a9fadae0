/** The conditions of a list as chips, and one in the making. */
import { type FormEvent, useState } from 'react'
import type { Json } from '../../api/shapes.ts'
import { Button } from '../../parts/button.tsx'
import { Select } from '../../parts/fields.tsx'
import { Input } from '../../parts/input.tsx'
import { itemsOf, Menu } from '../../parts/menu.tsx'
import { type Field, fieldsOf } from '../../parts/record-types.ts'
import { cut, fieldName, Text } from '../../parts/text.tsx'
import { words } from '../../words.ts'
import { type Condition, opsOf, shownOf, takesValue, typedOf } from './filter.ts'
import type { Listing } from './load.ts'

const VALUE_CHARS = 40
const opWord = (op: string) => words.records.ops[op as keyof typeof words.records.ops] ?? op

export function Conditions({ of: { type, conditions, setConditions } }: { of: Listing }) {
  const [adding, setAdding] = useState<Field>()
  return (
    <>
      {conditions.map((condition, at) => {
        const [field, op, value] = condition
        const shown = value === undefined ? '' : [shownOf(op, value)].flat().map(String).join(', ')
        return (
          <span key={JSON.stringify(condition)} className="filter-chip">
            <Text className="meta">{fieldName(field)}</Text>
            <span className="meta">{opWord(op)}</span>
            {shown !== '' && <Text in="span">{cut(shown, VALUE_CHARS).text}</Text>}
            <Button
              className="quiet"
              icon="close"
              aria-label={words.records.removeCondition(fieldName(field))}
              onClick={() => setConditions(conditions.filter((_, each) => each !== at))}
            />
          </span>
        )
      })}
      {adding && (
        <Adding
          field={adding}
          onAdd={(condition) => {
            setAdding(undefined)
            setConditions([...conditions, condition])
          }}
          onCancel={() => setAdding(undefined)}
        />
      )}
      <Menu
        icon="filter"
        label={<span className="wide-only">{words.records.filter}</span>}
        name={words.records.filter}
        items={itemsOf(
          fieldsOf(type).map((field) => [field, fieldName(field.path)] as const),
          setAdding,
        )}
      />
    </>
  )
}

type AddingProps = { field: Field; onAdd: (condition: Condition) => void; onCancel: () => void }

/** A condition in the making: an operator of the field, and a value by its schema. */
function Adding({ field, onAdd, onCancel }: AddingProps) {
  const ops = opsOf(field)
  const [op, setOp] = useState(ops[0] ?? 'eq')
  const [value, setValue] = useState<Json | undefined>(field.values?.[0])
  const name = fieldName(field.path)
  const schema = op === 'has' ? (field.schema.items ?? {}) : { ...field.schema, maxLength: 0 }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!takesValue(op)) onAdd([field.path, op])
    else if (value !== undefined) onAdd([field.path, op, typedOf(op, value)])
  }
  return (
    <form
      className="chips box adding"
      aria-label={words.records.filter}
      onSubmit={submit}
      onKeyDown={({ key }) => key === 'Escape' && onCancel()}
    >
      <Text className="meta">{name}</Text>
      <Select
        aria-label={words.records.operator}
        options={ops.map((each) => [each, opWord(each)])}
        value={op}
        onChange={setOp}
      />
      {takesValue(op) && (
        <>
          <label htmlFor="condition" className="hidden">
            {name}
          </label>
          <Input id="condition" schema={schema} value={value} onChange={setValue} />
        </>
      )}
      <button type="submit">{words.records.add}</button>
    </form>
  )
}
