/** A field of a form for a value of a schema. An empty one is no value. */
import { useState } from 'react'
import type { Json, Schema } from '../api/shapes.ts'
import { words } from '../words.ts'
import { visible } from './text.tsx'

type Props = {
  id: string
  schema: Schema
  value: Json | undefined
  onChange: (value: Json | undefined) => void
  isRequired?: boolean
  isInvalid?: boolean
  describedBy?: string
}

/** Texts that may be longer than this have lines. */
const LINE_CHARS = 200

export function Input({ id, schema, value, onChange, isRequired = false, ...state }: Props) {
  const common = {
    id,
    'aria-invalid': state.isInvalid || undefined,
    'aria-describedby': state.describedBy,
    required: isRequired,
  }
  const types = [schema.type ?? []].flat()
  const text = typeof value === 'string' ? value : value === undefined || value === null ? '' : String(value)
  const type = types.find((each) => each !== 'null')
  if (schema.enum || type === 'boolean')
    return <Choice common={common} of={schema.enum ?? [true, false]} value={value} onChange={onChange} />
  if (type === 'number' || type === 'integer')
    return (
      <input
        {...common}
        type="number"
        step={type === 'integer' ? 1 : 'any'}
        min={schema.minimum}
        max={schema.maximum}
        value={text}
        onChange={({ target }) => onChange(target.value === '' ? undefined : target.valueAsNumber)}
      />
    )
  if (type === 'string') {
    const change = ({ target }: { target: { value: string } }) =>
      onChange(target.value === '' ? undefined : target.value)
    if (schema.format === 'date') return <input {...common} type="date" value={text} onChange={change} />
    const isLong = (schema.maxLength ?? 0) > LINE_CHARS || text.length > LINE_CHARS || text.includes('\n')
    if (isLong) return <textarea {...common} dir="auto" rows={4} value={text} onChange={change} />
    return <input {...common} dir="auto" value={text} onChange={change} />
  }
  const isList = type === 'array' && [schema.items?.type].flat()[0] === 'string' && !schema.items?.enum
  if (
    isList &&
    (value === undefined ||
      value === null ||
      (Array.isArray(value) && value.every((item) => typeof item === 'string' && !item.includes('\n'))))
  )
    return <Lines common={common} value={value ?? []} onChange={onChange} />
  return <AsJson common={common} value={value} onChange={onChange} />
}

type Common = {
  id: string
  'aria-invalid': true | undefined
  'aria-describedby': string | undefined
  required: boolean
}
type Part<Value> = { common: Common; value: Value; onChange: Props['onChange'] }

function Choice({ common, of, value, onChange }: Part<Json | undefined> & { of: readonly Json[] }) {
  return (
    <select
      {...common}
      value={value === undefined ? -1 : of.indexOf(value)}
      onChange={({ target }) => onChange(of[Number(target.value)])}
    >
      <option value={-1} disabled={common.required}>
        {words.form.none}
      </option>
      {of.map((each, at) => (
        <option key={JSON.stringify(each)} value={at}>
          {each === true ? words.yes : each === false ? words.no : visible(String(each))}
        </option>
      ))}
    </select>
  )
}

/** A list of texts: a line for each. */
function Lines({ common, value, onChange }: Part<readonly Json[]>) {
  const [typed, setTyped] = useState(value.join('\n'))
  return (
    <textarea
      {...common}
      dir="auto"
      rows={Math.min(8, Math.max(2, typed.split('\n').length))}
      title={words.form.items}
      placeholder={words.form.items}
      value={typed}
      onChange={({ target }) => {
        setTyped(target.value)
        onChange(
          target.value
            .split('\n')
            .map((line) => line.trim())
            .filter(Boolean),
        )
      }}
    />
  )
}

function AsJson({ common, value, onChange }: Part<Json | undefined>) {
  const [typed, setTyped] = useState(value === undefined ? '' : JSON.stringify(value, null, 2))
  const [isJson, setJson] = useState(true)
  const change = (text: string) => {
    setTyped(text)
    try {
      onChange(text.trim() === '' ? undefined : (JSON.parse(text) as Json))
      setJson(true)
    } catch {
      setJson(false)
    }
  }
  return (
    <>
      <textarea
        {...common}
        className="code"
        spellCheck={false}
        rows={Math.min(16, Math.max(3, typed.split('\n').length))}
        placeholder={words.copies.json}
        value={typed}
        onChange={({ target }) => change(target.value)}
      />
      {!isJson && <p className="small failed-word">{words.form.notJson}</p>}
    </>
  )
}
