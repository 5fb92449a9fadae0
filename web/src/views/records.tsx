/** The view of records: a table with a filter, and the form of one record. */
import { useState } from 'react'
import type { Row } from '../api/shapes.ts'
import { Button } from '../parts/button.tsx'
import { Select } from '../parts/fields.tsx'
import { nameOf, usualTitle } from '../parts/record-types.ts'
import { fieldName, Text } from '../parts/text.tsx'
import { Value } from '../parts/value.tsx'
import { Failure, type Shown, show, useWork } from './frame.tsx'
import { type Body, callTool, placeOf } from './host.ts'
import { RecordForm } from './record-form.tsx'
import { words } from './words.ts'

type Listed = { rows: Row[]; hasMore: boolean }
const COLUMNS = 4

const listedIn = (body: Body): Listed => ({
  rows: (Array.isArray(body['data']) ? body['data'] : 'version' in body ? [body] : []) as unknown as Row[],
  hasMore: (body['meta'] as Body | undefined)?.['has_more'] === true,
})

/** Fields by how many records have them, after what is the title by its name. */
function columnsOf(rows: readonly Row[]): string[] {
  const counts = new Map<string, number>()
  for (const { data } of rows)
    for (const name of Object.keys(data ?? {})) counts.set(name, (counts.get(name) ?? 0) + 1)
  const title = usualTitle(Object.fromEntries(counts))
  const weight = (name: string) => (name === title ? Number.POSITIVE_INFINITY : (counts.get(name) ?? 0))
  return [...counts.keys()].sort((a, b) => weight(b) - weight(a))
}

function Records({ result, args: sent }: Shown) {
  const { tools = {}, record_type } = placeOf(result)
  const args = { record_type, ...sent }
  const [listed, setListed] = useState(listedIn(result.body))
  const [open, setOpen] = useState<Row | undefined>(listed.rows.length === 1 ? listed.rows[0] : undefined)
  const columns = columnsOf(listed.rows)
  const replace = (row: Row) =>
    setListed({ ...listed, rows: listed.rows.map((each) => (each.id === row.id ? row : each)) })
  if (open)
    return (
      <RecordForm
        key={open.id}
        row={open}
        args={args}
        tool={tools.update_record}
        onSaved={(row) => {
          replace(row)
          setOpen(row)
        }}
        onBack={listed.rows.length > 1 ? () => setOpen(undefined) : undefined}
      />
    )
  return (
    <section>
      <Text in="h1">{nameOf(undefined, String(args['record_type'] ?? ''))}</Text>
      {tools.query_records !== undefined && (
        <Filter tool={tools.query_records} args={sent} columns={columns} onListed={setListed} />
      )}
      {listed.rows.length === 0 ? (
        <p className="note">{words.records.none}</p>
      ) : (
        <div className="scroll">
          <table>
            <thead>
              <tr>
                {columns.slice(0, COLUMNS).map((name) => (
                  <th key={name} scope="col">
                    <Text>{fieldName(name)}</Text>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {listed.rows.map((row) => (
                <tr key={row.id} onClick={() => setOpen(row)}>
                  {columns.slice(0, COLUMNS).map((name, at) => {
                    const value = <Value value={row.data[name]} most={60} />
                    return (
                      <td key={name}>
                        {at === 0 ? (
                          <Button label={value} className="cell" onClick={() => setOpen(row)} />
                        ) : (
                          value
                        )}
                      </td>
                    )
                  })}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <p className="note">{words.records.count(listed.rows.length, listed.hasMore)}</p>
    </section>
  )
}

type FilterProps = {
  tool: string
  args: Body
  columns: readonly string[]
  onListed: (listed: Listed) => void
}

/** Narrows what the call asked for, by the server: the page has the first records only. Hosts let no form submit. */
function Filter({ tool, args, columns, onListed }: FilterProps) {
  const { isBusy, failure, run } = useWork()
  const [known] = useState(columns)
  const [field, setField] = useState(known[0] ?? '')
  const [text, setText] = useState('')
  if (typeof args['filter'] === 'string' || known.length === 0) return null
  const list = (by: string) =>
    run(async () => {
      const { cursor: _, offset: __, filter, ...asked } = args
      const own = { field: `data.${field}`, op: 'ilike', value: `%${by.replace(/[\\%_]/g, '\\$&')}%` }
      const both = filter === undefined ? own : { and: [filter, own] }
      const wanted = by === '' ? filter : both
      const result = await callTool(tool, { ...asked, ...(wanted !== undefined && { filter: wanted }) })
      if (result.error === undefined) onListed(listedIn(result.body))
      return result.error
    })
  return (
    <search className="filter">
      <Select
        aria-label={words.records.field}
        options={known.map((name) => [name, fieldName(name)])}
        value={field}
        onChange={setField}
      />
      <input
        aria-label={words.records.contains}
        placeholder={words.records.contains}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={({ key }) => key === 'Enter' && list(text)}
      />
      <Button label={words.records.filter} disabled={isBusy} onClick={() => list(text)} />
      {failure !== undefined && <Failure text={failure} />}
    </search>
  )
}

show(Records)
