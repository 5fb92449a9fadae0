/** The fields in the order of the type, each with who set it and in which version. */
import { useState } from 'react'
import type { Change, RecordType, Row } from '../../api/shapes.ts'
import { Button } from '../../parts/button.tsx'
import { Empty } from '../../parts/failure.tsx'
import { type Field, fieldsOf, titleField, valueAt } from '../../parts/record-types.ts'
import { fieldName, Text } from '../../parts/text.tsx'
import { LongValue } from '../../parts/value.tsx'
import { Shape } from '../../parts/who.tsx'
import { words } from '../../words.ts'
import { type Blame, blameOf, VERSIONS } from './load.ts'

/** A record may have thousands of properties. */
const MOST = 200

type Props = { row: Row; type: RecordType | undefined; changes: readonly Change[] }

export function Fields({ row, type, changes }: Props) {
  const all = shownOf(row, type)
  const [isAll, setAll] = useState(false)
  const fields = isAll ? all : all.slice(0, MOST)
  const blame = blameOf(changes, row.version)
  const oldest = changes.length === VERSIONS ? changes.at(-1)?.version : undefined
  if (all.length === 0) return <Empty title={words.record.noFields} />
  return (
    <>
      <dl className="fields">
        {fields.map((field) => (
          <div key={field.name}>
            <dt title={field.schema.description}>
              <Text>{fieldName(field.path)}</Text>
            </dt>
            <dd>
              <LongValue value={valueAt(row, field)} isState={field.isState} format={field.schema.format} />
            </dd>
            <dd className="blame">
              <SetBy of={blame(field.name)} oldest={oldest} />
            </dd>
          </div>
        ))}
      </dl>
      {all.length > fields.length && (
        <Button className="quiet" label={words.record.all(all.length)} onClick={() => setAll(true)} />
      )}
    </>
  )
}

/** Of the schema those that have a value, then those that the schema does not name. The title is the head of the page. */
function shownOf(row: Row, type: RecordType | undefined): Field[] {
  const known = type ? fieldsOf(type) : []
  const names = new Set(known.map(({ name }) => name))
  const rest = Object.keys(row.data)
    .filter((name) => !names.has(name))
    .map((name): Field => ({ name, path: `data.${name}`, schema: {}, isNumber: false, isState: false }))
  const title = type && titleField(type)
  const order = Object.keys(type?.json_schema.properties ?? {})
  return [...known.sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name)), ...rest].filter(
    ({ name }) => name !== title && Object.hasOwn(row.data, name),
  )
}

function SetBy({ of, oldest }: { of: Blame | undefined; oldest: number | undefined }) {
  if (!of) return oldest === undefined ? null : <span className="note">{words.record.before(oldest)}</span>
  const { name, kind } = of.change.actor
  return (
    <span className="who" title={words.record.setBy(name, of.change.version)}>
      <Shape name={name} kind={kind} />
      <span className="note">{of.isCreation ? words.record.atCreation : `v${of.change.version}`}</span>
    </span>
  )
}
