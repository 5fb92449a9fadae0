/** The parts of an undo plan: numbers, fields and the values that they get back, what stays, what was sent. */
import { type ReactNode, useMemo } from 'react'
import { useChange, useTriggerNames } from '../../api/queries.ts'
import type { Json, RecordType, UndoItem, UndoPlan } from '../../api/shapes.ts'
import { words } from '../../words.ts'
import { Icon } from '../button.tsx'
import { Arrow, ChangesInLine, changesOf, isEmpty } from '../diff.tsx'
import { nameOf } from '../record-types.ts'
import { Text, Time, visible, whole } from '../text.tsx'
import { Value } from '../value.tsx'
import { Who } from '../who.tsx'

export const Numbers = ({ plan, what }: { plan: UndoPlan; what: readonly string[] }) => {
  const sent = plan.effects?.deliveries.length ?? 0
  return (
    <dl className="box sunken numbers-box">
      <Count value={plan.count} label={words.undo.goBack(what)} />
      {plan.skipped.length > 0 && <Count value={plan.skipped.length} label={words.undo.stay} />}
      {plan.also.length > 0 && <Count value={plan.also.length} label={words.undo.also} />}
      {sent > 0 && <Count value={sent} label={words.undo.alreadySent} />}
    </dl>
  )
}

const Count = ({ value, label }: { value: number; label: string }) => (
  <div>
    <dd>{whole.format(value)}</dd>
    <dt className="small">{label}</dt>
  </div>
)

const DIFF = 40

/** How much a plan is of, in a word: "86 tickets". */
type Counted = (count: number) => string

export function Fields({ items, counted }: { items: readonly UndoItem[]; counted: Counted }) {
  const fields = useMemo(() => fieldsOfPlan(items), [items])
  if (fields.length === 0) return null
  const side = (values: readonly ValueCount[], total: number, Mark: 'del' | 'ins') =>
    values.map(({ value, count }) => (
      <span key={JSON.stringify(value ?? null)}>
        {isEmpty(value) ? (
          <Value value={value} />
        ) : (
          <Mark>
            <Value value={value} most={DIFF} />
          </Mark>
        )}
        {(values.length > 1 || count < total) && <span className="times"> {whole.format(count)}</span>}{' '}
      </span>
    ))
  return (
    <table className="full undo-fields">
      <thead className="hidden">
        <tr>
          <th scope="col">{words.records.field}</th>
          <th scope="col">{words.undo.values}</th>
          <th scope="col">{words.nav.records}</th>
        </tr>
      </thead>
      <tbody>
        {fields.map(({ name, from, to, count }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>
              {side(from, count, 'del')}
              <Arrow />
              {side(to, count, 'ins')}
            </td>
            <td className="note">{counted(count)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

type LeftProps = {
  base: string
  plan: UndoPlan
  types: readonly RecordType[]
  counted: Counted
  children: ReactNode
}
export const SHOWN = 5

/** What was changed after it, by whom, and the choice. */
export function Left({ base, plan: { skipped, also }, types, counted, children }: LeftProps) {
  if (skipped.length + also.length === 0) return null
  const typeName = (type: string | null) =>
    type === null
      ? ''
      : nameOf(
          types.find(({ id }) => id === type),
          type,
        )
  const overtaken = skipped.filter(({ overtaken_by }) => overtaken_by !== null)
  return (
    <section className="amber">
      <h3>
        <Icon name="warning" />
        {skipped.length > 0
          ? words.undo.changedAfter(counted(skipped.length), skipped.length)
          : words.undo.takenToo(also.length)}
      </h3>
      <ul className="stack ink left">
        {skipped.slice(0, SHOWN).map((each) => (
          <li key={`${each.kind} ${each.record_type} ${each.id}`}>
            <Text in="strong">{each.title ?? `${typeName(each.record_type)} ${each.id}`}</Text>{' '}
            {each.overtaken_by === null ? (
              <Text className="note">{each.message}</Text>
            ) : (
              <After base={base} seq={each.overtaken_by} />
            )}
          </li>
        ))}
        {skipped.length > SHOWN && <li className="note">{words.andMore(skipped.length - SHOWN)}</li>}
      </ul>
      {(overtaken.length > 0 || also.length > 0) && <div className="stack ink choices">{children}</div>}
    </section>
  )
}

/** The change that is in the way: who, when, and what. */
function After({ base, seq }: { base: string; seq: number }) {
  const change = useChange(base, seq)
  if (!change) return null
  return (
    <span className="note line">
      <Who {...change.actor} />
      <Time at={change.at} />
      <ChangesInLine changes={changesOf(change.diff)} most={2} />
    </span>
  )
}

/** What other systems got, and keep. */
export function Sent({ base, plan: { effects } }: { base: string; plan: UndoPlan }) {
  const called = useTriggerNames(base)
  const sent = effects?.deliveries ?? []
  if (sent.length === 0) return null
  const origins = Object.entries(Object.groupBy(sent, ({ of }) => of ?? ''))
  return (
    <section className="card card-item">
      <h3>{words.undo.sentSince}</h3>
      {origins.map(([of, calls = []]) => (
        <p key={of} className="note">
          {words.undo.callsOf(calls.length, visible(called(of)))}
        </p>
      ))}
    </section>
  )
}

/** A field that goes back, with the values before the undo and after it, the most frequent first. */
export type FieldUndo = { name: string; count: number; from: ValueCount[]; to: ValueCount[] }
export type ValueCount = { value: Json | undefined; count: number }

const MOST_FIELDS = 8
const MOST_VALUES = 4

function fieldsOfPlan(items: readonly UndoItem[]): FieldUndo[] {
  const fields = new Map<
    string,
    { count: number; from: Map<string, ValueCount>; to: Map<string, ValueCount> }
  >()
  for (const { diff = [] } of items)
    for (const { name, from, to } of changesOf(diff)) {
      const field = fields.get(name) ?? { count: 0, from: new Map(), to: new Map() }
      fields.set(name, field)
      field.count++
      count(field.from, from)
      count(field.to, to)
    }
  return [...fields.entries()]
    .map(([name, { count: total, from, to }]) => ({ name, count: total, from: most(from), to: most(to) }))
    .sort((a, b) => b.count - a.count)
    .slice(0, MOST_FIELDS)
}

function count(values: Map<string, ValueCount>, value: Json | undefined): void {
  const key = JSON.stringify(value ?? null)
  values.set(key, { value, count: (values.get(key)?.count ?? 0) + 1 })
}

const most = (values: Map<string, ValueCount>): ValueCount[] =>
  [...values.values()].sort((a, b) => b.count - a.count).slice(0, MOST_VALUES)

/** Whether a plan differs from the one that the person saw. */
export const isOther = (seen: UndoPlan, now: UndoPlan): boolean =>
  seen.count !== now.count ||
  seen.skipped.length !== now.skipped.length ||
  seen.also.length !== now.also.length ||
  seen.data.some(({ reverts }, at) => now.data[at]?.reverts !== reverts)

/** The later changes that are in the way, or that are taken back too. */
export const laterOf = ({ skipped, also }: UndoPlan): number[] => [
  ...skipped.flatMap(({ overtaken_by: seq }) => seq ?? []),
  ...also.map(({ reverts }) => reverts),
]
