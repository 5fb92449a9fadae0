/** The rows of an answer, as a table or as bars. */
import { memo } from 'react'
import type { Json } from '../../api/shapes.ts'
import { Empty } from '../../parts/answer.tsx'
import { Chart, Legend, toneAt } from '../../parts/chart.tsx'
import { type Column, Grid } from '../../parts/grid.tsx'
import { cut, dateOf, shortTime, Text, visible } from '../../parts/text.tsx'
import { Value } from '../../parts/value.tsx'
import { words } from '../../words.ts'

type Row = Record<string, Json>
export type Answer = {
  data: Row[]
  meta: { rows: number; has_more: boolean; columns: { name: string; type: string }[]; hint?: string }
}
const NUMBERS = /^(int|bigint|smallint|numeric|real|double|float|integer|decimal)/
const BARS = 60
const LABEL_CHARS = 20

/** Drawn once for an answer: what is typed meanwhile draws no row again. */
export const Result = memo(function Result({ of, isChart }: { of: Answer; isChart: boolean }) {
  const { data, meta } = of
  if (data.length === 0) return <Empty title={words.ask.none} />
  if (isChart) return <Bars of={of} />
  const columns = meta.columns.map(
    ({ name, type }): Column<readonly [number, Row]> => ({
      name,
      head: <Text>{name}</Text>,
      width: NUMBERS.test(type) ? 7 : 12,
      isNumber: NUMBERS.test(type),
      cell: ([, row]) => <Value value={numberOf(row[name], type)} />,
    }),
  )
  const rows = data.map((row, at) => [at, row] as const)
  return (
    <Grid
      label={words.ask.answer}
      columns={columns}
      rows={rows}
      total={rows.length}
      keyOf={([at]) => String(at)}
      onOpen={nothing}
      onSight={nothing}
    />
  )
})
const nothing = () => undefined

/** Numbers that JSON cannot hold exactly come as texts. */
const numberOf = (value: Json | undefined, type: string): Json | undefined =>
  typeof value === 'string' && NUMBERS.test(type) && Number.isSafeInteger(Number(value))
    ? Number(value)
    : value

/** The columns of numbers, which can be drawn beside another. */
export const numbersOf = ({ meta: { columns } }: Answer) => columns.filter(({ type }) => NUMBERS.test(type))

function Bars({ of }: { of: Answer }) {
  const shown = of.data.slice(0, BARS)
  const label = of.meta.columns.find(({ type }) => !NUMBERS.test(type))
  const labels = shown.map((row, at) => labelOf(label && row[label.name], at))
  const series = numbersOf(of).map(({ name }, at) => ({
    name: visible(name),
    tone: toneAt(at),
    values: shown.map((row) => Math.max(0, Number(row[name] ?? 0))),
  }))
  return (
    <section className="card card-item" aria-label={words.ask.chart}>
      <Legend series={series} />
      <Chart title={words.ask.chart} labels={unlike(labels)} series={series} marks={12} />
      {of.data.length > BARS && <p className="note">{words.ask.firstBars(BARS)}</p>}
    </section>
  )
}

function labelOf(value: Json | undefined, at: number): string {
  if (value === undefined) return String(at + 1)
  if (typeof value === 'string') {
    const time = dateOf(value)
    return time === undefined ? visible(cut(value, LABEL_CHARS).text) : shortTime(Date.parse(time))
  }
  return value === null ? words.empty : cut(JSON.stringify(value), LABEL_CHARS).text
}

/** Bars are told apart by their labels. */
const unlike = (labels: readonly string[]): string[] =>
  labels.map((label, at) => (labels.indexOf(label) < at ? `${label} (${at + 1})` : label))
