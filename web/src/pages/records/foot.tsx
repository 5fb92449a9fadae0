/** Below the grid: which rows are in sight, of how many, and sums. */
import { type RefObject, useEffect, useState } from 'react'
import { fieldName, whole } from '../../parts/text.tsx'
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
