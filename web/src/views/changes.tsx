/** The view of what happened: each request or change, who made it, and its undo. */
import { useState } from 'react'
import type { Change, Group, Json } from '../api/shapes.ts'
import { ChangesInTable, changesOf } from '../parts/diff.tsx'
import { Text, Time } from '../parts/text.tsx'
import { Said, Undo } from './done.tsx'
import { type Shown, show } from './frame.tsx'
import { placeOf } from './host.ts'
import { words } from './words.ts'

/** A change, or a request with the counts of what it did. */
type Entry = Partial<Change & Pick<Group, 'by'>>

function Changes({ result, args }: Shown) {
  const rows = (Array.isArray(result.body['data']) ? result.body['data'] : []) as unknown as Entry[]
  const base = args['base_id']
  const { tools, record_type, undoes } = placeOf(result)
  const isOurs = ({ actor }: Entry) => undoes === undefined || actor?.token_id === undoes
  if (rows.length === 0) return <p className="note">{words.changes.none}</p>
  return (
    <section>
      <h1>{words.changes.title}</h1>
      {rows.map((entry) => (
        <Row
          key={entry.seq ?? entry.request_id}
          entry={{ ...named({ record_type, ...args }), ...entry }}
          base={base}
          undo={isOurs(entry) ? tools?.undo : undefined}
          isWhole={undoes !== undefined}
        />
      ))}
    </section>
  )
}

/** The history of a record names it in the call only. */
const named = ({ record_type, id }: Shown['args']): Entry => ({
  ...(typeof record_type === 'string' && { record_type }),
  ...(typeof id === 'string' && { id }),
})

/** `undo` is the tool that takes it back, and `isWhole` whether that takes whole requests only. */
type RowProps = { entry: Entry; base: Json | undefined; undo: string | undefined; isWhole: boolean }

function Row({ entry, base, undo, isWhole }: RowProps) {
  const [said, setSaid] = useState<string>()
  const { seq, request_id, at, actor, diff = [], by } = entry
  const fields = changesOf(diff).filter(({ from, to }) => from !== to)
  const of = isWhole || by || seq === undefined ? { request_id } : { seq }
  return (
    <article className="card">
      <header>
        <Text in="h2">{sentenceOf(entry)}</Text>
        {at !== undefined && <Time at={at} />}
      </header>
      {actor && (
        <p className="note">
          {words.by} <Text>{actor.name}</Text>
        </p>
      )}
      {entry.operation !== 'delete' && fields.length > 0 && <ChangesInTable changes={fields} />}
      {said === undefined && undo !== undefined && <Undo tool={undo} of={of} base={base} onDone={setSaid} />}
      <Said>{said}</Said>
    </article>
  )
}

function sentenceOf({ by, operation = 'update', record_type, id = '', title }: Entry): string {
  const { operations } = words.changes
  const all = by?.map(
    (each) => `${each.count} ${each.record_type ?? each.kind} ${operations[each.operation]}`,
  )
  return all?.join(', ') ?? `${title ?? (record_type ? `${record_type}/${id}` : id)} ${operations[operation]}`
}

show(Changes)
