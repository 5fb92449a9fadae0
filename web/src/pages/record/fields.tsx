/** The fields in the order of the type, each with who set it and in which version; or what two versions differ in. */
import { useState } from 'react'
import { Link } from 'wouter'
import { changed as searchChanged } from '../../addresses.ts'
import type { Change, RecordType, Row } from '../../api/shapes.ts'
import { Empty, pendingOf } from '../../parts/answer.tsx'
import { Button } from '../../parts/button.tsx'
import { ChangesInTable, differences } from '../../parts/diff.tsx'
import { type Field, fieldsOf, titleField, valueAt } from '../../parts/record-types.ts'
import { fieldName, Text } from '../../parts/text.tsx'
import { LongValue } from '../../parts/value.tsx'
import { Shape } from '../../parts/who.tsx'
import { words } from '../../words.ts'
import { type Blame, blameOf, type Place, useVersion, VERSIONS } from './load.ts'

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
          <div key={field.name} className="stack gap-3 ruled">
            <dt title={field.schema.description}>
              <Text>{fieldName(field.path)}</Text>
            </dt>
            <dd>
              <LongValue value={valueAt(row, field)} isState={field.isState} format={field.schema.format} />
            </dd>
            <dd className="blame still">
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

const WHOLE = 4000

export function Comparison({ place, one, other }: { place: Place; one: number; other: number }) {
  const [first, last] = [Math.min(one, other), Math.max(one, other)]
  const before = useVersion(place, first)
  const after = useVersion(place, last)
  const pending = pendingOf(before, 6) ?? pendingOf(after, 6)
  const changes = differences(before.data?.data ?? {}, after.data?.data ?? {})
  return (
    <section aria-label={words.record.compared(first, last)}>
      <header className="amber chips spread past">
        <h2>{words.record.compared(first, last)}</h2>
        <Link href={location.pathname + searchChanged(location.search, { vs: undefined })}>
          {words.record.end}
        </Link>
      </header>
      {pending ??
        (changes.length === 0 ? (
          <p className="note">{words.record.same}</p>
        ) : (
          <ChangesInTable changes={changes} most={WHOLE} />
        ))}
    </section>
  )
}
