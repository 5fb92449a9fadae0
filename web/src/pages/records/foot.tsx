/** Below the grid: which rows are in sight, of how many, and sums; and over it one of them at a look. */
import { type RefObject, useEffect, useState } from 'react'
import { to } from '../../addresses.ts'
import type { RecordType, Row as Stored } from '../../api/shapes.ts'
import { Button } from '../../parts/button.tsx'
import { Facts } from '../../parts/card.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { LinkButton } from '../../parts/link.tsx'
import { fieldsOf, titleOf, valueAt } from '../../parts/record-types.ts'
import { fieldName, Text, whole } from '../../parts/text.tsx'
import { Value } from '../../parts/value.tsx'
import { words } from '../../words.ts'
import type { Foot as Row } from './load.ts'

export type Shown = { first: number; last: number }

type FootProps = {
  foot: Row | undefined
  all: number | undefined
  plural: string
  sums: readonly string[]
  total: number
  /** Scrolling draws the foot again, and not the list. */
  onShown: RefObject<(rows: Shown) => void>
  hint: string | undefined
}

export function Foot({ foot, all, plural, sums, total, onShown, hint }: FootProps) {
  const [{ first, last: end }, setShown] = useState<Shown>({ first: 0, last: 0 })
  useEffect(() => {
    onShown.current = (rows) =>
      setShown((so) => (so.first === rows.first && so.last === rows.last ? so : rows))
  }, [onShown])
  const last = Math.min(end, total - 1)
  if (!foot) return null
  const totals = sums.flatMap((path) => {
    const value = foot[path.replace('data.', 'sum_')]
    return value === null || value === undefined
      ? []
      : [words.records.sum(fieldName(path), whole.format(Number(value)))]
  })
  return (
    <footer className="line meta over records-foot">
      <span>
        {foot.count > 0 ? words.records.range(first + 1, last + 1, foot.count) : 0} {plural}
        {all !== undefined && all !== foot.count && `, ${words.records.inAll(all)}`}
      </span>
      {totals.map((text) => (
        <span key={text}>{text}</span>
      ))}
      {hint !== undefined && <span className="hint">{hint}</span>}
      <span className="end wide-only">{words.records.keys}</span>
    </footer>
  )
}

/** A record at a look, without leaving the list: `Space` opens it, and closes it again. */
type PeekProps = { base: string; type: RecordType; row: Stored; onClose: () => void }

export const Peek = ({ base, type, row, onClose }: PeekProps) => (
  <Dialog
    title={<Text>{titleOf(row, type)}</Text>}
    onClose={onClose}
    foot={
      <>
        <Button label={words.close} onClick={onClose} />
        <LinkButton label={words.environments.open} href={to.record(base, type.id, row.id)} />
      </>
    }
  >
    <Facts
      of={fieldsOf(type).map((field) => {
        const value = valueAt(row, field)
        const { name, path, isState, schema } = field
        const shown = <Value key={name} value={value} isState={isState} format={schema.format} />
        return [fieldName(path), value !== undefined && shown] as const
      })}
    />
  </Dialog>
)
