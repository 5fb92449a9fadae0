/** The form of one record. What others changed meanwhile is not overwritten. */
import { useState } from 'react'
import type { Data, Json, Row } from '../api/shapes.ts'
import { Button } from '../parts/button.tsx'
import { usualTitle } from '../parts/record-types.ts'
import { fieldName, Text } from '../parts/text.tsx'
import { Failure, useWork } from './frame.tsx'
import { type Body, callTool, tellModel } from './host.ts'
import { words } from './words.ts'

type FormProps = {
  row: Row
  args: Body
  /** The tool that saves; without it the form only shows. */
  tool: string | undefined
  onSaved: (row: Row) => void
  onBack: (() => void) | undefined
}

type Typed = { currentTarget: { value: string } }

/** What a field has as a text, and back: texts are as they are, other values are JSON. */
const written = (value: Json | undefined): string =>
  typeof value === 'string' ? value : JSON.stringify(value ?? null)
const textsOf = ({ data }: Row): Record<string, string> =>
  Object.fromEntries(Object.entries(data).map(([name, value]) => [name, written(value)]))

export function RecordForm({ row, args, tool, onSaved, onBack }: FormProps) {
  const { isBusy, failure, run } = useWork()
  const names = Object.keys(row.data)
  const title = row.title ?? row.data[usualTitle(row.data) ?? '']
  const [texts, setTexts] = useState(textsOf(row))
  const [isSaved, setSaved] = useState(false)
  const changed = names.filter((name) => texts[name] !== written(row.data[name]))
  const save = () =>
    run(async () => {
      const data: Data = {}
      for (const name of changed) {
        const value = parsed(texts[name] ?? '', row.data[name])
        if (value === undefined) return words.records.notJson(fieldName(name))
        data[name] = value
      }
      const { base_id, record_type } = args
      const target = { base_id, record_type, id: row.id, expected_version: row.version }
      const result = await callTool(tool ?? '', { ...target, data })
      if (result.error !== undefined) return result.error
      tellModel(words.records.told(row.id, changed.join(', ')))
      const saved = { ...row, ...(result.body as unknown as Row), data: { ...row.data, ...data } }
      setTexts(textsOf(saved))
      setSaved(true)
      onSaved(saved)
      return undefined
    })
  return (
    <section>
      {onBack && <Button label={`← ${words.records.back}`} className="quiet" onClick={onBack} />}
      <Text in="h1">{typeof title === 'string' ? title : row.id}</Text>
      {names.map((name, at) => {
        // As it was: a field that is typed in keeps its lines.
        const Input = written(row.data[name]).length > 60 ? 'textarea' : 'input'
        return (
          <div key={name} className="field">
            <label htmlFor={`field-${at}`}>
              <Text>{fieldName(name)}</Text>
            </label>
            <Input
              id={`field-${at}`}
              readOnly={tool === undefined}
              value={texts[name]}
              onInput={({ currentTarget }: Typed) => setTexts({ ...texts, [name]: currentTarget.value })}
            />
          </div>
        )
      })}
      {failure !== undefined && <Failure text={failure} />}
      {tool !== undefined && (
        <footer className="buttons">
          <button type="button" className="primary" disabled={isBusy || changed.length === 0} onClick={save}>
            {words.records.save}
          </button>
          {isSaved && (
            <span role="status" className="note">
              {words.records.saved}
            </span>
          )}
        </footer>
      )}
    </section>
  )
}

function parsed(text: string, before: Json | undefined): Json | undefined {
  if (typeof before === 'string') return text
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}
