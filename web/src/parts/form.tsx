/** A form by the JSON Schema of a record type: a field for each property, unknown shapes as JSON. */
import { useEffect, useId, useState } from 'react'
import { Failure } from '../api/failure.ts'
import { send } from '../api/send.ts'
import type { Data, Json, RecordType } from '../api/shapes.ts'
import { words } from '../words.ts'
import { Input } from './input.tsx'
import { type Field, fieldsOf, own } from './record-types.ts'
import { fieldName, Text } from './text.tsx'

/** What the server says against a field, and what it takes instead. */
export type Fault = { path: string; message: string; hint?: string }

type Props = {
  type: Pick<RecordType, 'json_schema' | 'display'>
  value: Data
  onChange: (value: Data) => void
  faults: readonly Fault[]
}

export function Form({ type, value, onChange, faults }: Props) {
  return (
    <div className="stack gap-4 form">
      {fieldsOf(type).map((field) => (
        <Labelled
          key={field.name}
          field={field}
          isRequired={type.json_schema.required?.includes(field.name) === true}
          value={own(value, field.name)}
          fault={faults.find(
            ({ path }) => path === `/data/${field.name}` || path.startsWith(`/data/${field.name}/`),
          )}
          onChange={(next) => {
            const { [field.name]: _, ...rest } = value
            onChange(next === undefined ? rest : { ...value, [field.name]: next })
          }}
        />
      ))}
    </div>
  )
}

type LabelledProps = {
  field: Field
  isRequired: boolean
  value: Json | undefined
  fault: Fault | undefined
  onChange: (value: Json | undefined) => void
}

export function Labelled({ field, isRequired, value, fault, onChange }: LabelledProps) {
  const id = useId()
  const note = fault ? `${id}-fault` : field.schema.description !== undefined ? `${id}-note` : undefined
  return (
    <div className={`labelled ${fault ? 'faulty' : ''}`}>
      <label htmlFor={id}>
        <Text>{fieldName(field.path)}</Text>{' '}
        {isRequired && <span className="note">{words.schema.needed}</span>}
      </label>
      <div>
        <Input
          id={id}
          schema={field.schema}
          value={value}
          onChange={onChange}
          isRequired={isRequired}
          {...(note !== undefined && { describedBy: note })}
          isInvalid={fault !== undefined}
        />
        {fault ? (
          <p id={note} className="small failed-word" role="alert">
            <Text>{fault.message}</Text>
          </p>
        ) : (
          field.schema.description !== undefined && (
            <p id={note} className="note">
              <Text>{field.schema.description}</Text>
            </p>
          )
        )}
      </div>
    </div>
  )
}

/** The merge patch from one state of data to another: null takes a property. */
export function patchOf(from: Data, to: Data): Data {
  const patch: Data = {}
  for (const name of new Set([...Object.keys(from), ...Object.keys(to)]))
    if (JSON.stringify(own(from, name)) !== JSON.stringify(own(to, name))) patch[name] = own(to, name) ?? null
  return patch
}

const PAUSE_MS = 400

/** What a dry run of a write has answered. While one types, it is of what was typed before. */
export type Trial<T> = { isOfNow: boolean; answer?: T; failure?: Failure }

/** The dry run of a write, a moment after the last key. */
export function useTrial<T>(method: string, path: string, body: unknown): Trial<T> {
  const [trial, setTrial] = useState<Omit<Trial<T>, 'isOfNow'> & { of?: string }>({})
  const text = body === undefined ? undefined : JSON.stringify(body)
  useEffect(() => {
    const stop = new AbortController()
    const wait = setTimeout(() => {
      if (text === undefined) return setTrial({})
      send<T>(method, `${path}?dry_run=true`, JSON.parse(text), { signal: stop.signal }).then(
        (answer) => setTrial({ of: text, answer }),
        (error: unknown) => error instanceof Failure && setTrial({ of: text, failure: error }),
      )
    }, PAUSE_MS)
    return () => {
      clearTimeout(wait)
      stop.abort()
    }
  }, [method, path, text])
  return { ...trial, isOfNow: text !== undefined && trial.of === text }
}

/** The faults that it has. */
export const useFaults = (...write: Parameters<typeof useTrial>): readonly Fault[] =>
  useTrial(...write).failure?.details ?? []
