/** Bars in stacks over time or groups, as SVG. The table beneath has the same numbers as text. */
import { words } from '../words.ts'
import { Table } from './card.tsx'
import { whole } from './text.tsx'

export type Series = { name: string; tone: string; values: readonly number[] }
type Props = {
  labels: readonly string[]
  series: readonly Series[]
  height?: number
  title: string
  marks?: number
}

type Step = { label: string; at: number }

const WIDTH = 1000
const TONES = 6

/** The tone of a series by its place. */
export const toneAt = (at: number): string => `tone-${at % TONES}`

export function Chart({ labels, series, height = 96, title, marks = 7 }: Props) {
  const sums = labels.map((_, at) => series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0))
  const most = Math.max(1, ...sums)
  const step = WIDTH / Math.max(1, labels.length)
  const every = Math.max(1, Math.ceil(labels.length / marks))
  // Two steps may have one label: 24 hours begin and end in the same one.
  const steps = labels.map((label, at): Step => ({ label, at }))
  return (
    <figure className="chart">
      <svg viewBox={`0 0 ${WIDTH} ${height}`} preserveAspectRatio="none" role="img" aria-label={title}>
        <line x1="0" x2={WIDTH} y1={height - 0.5} y2={height - 0.5} className="axis" />
        {steps.map(({ label, at }) => {
          let top = height
          return (
            <g key={at}>
              {series.map(({ name, tone, values }) => {
                const value = values[at] ?? 0
                const size = (value / most) * (height - 4)
                top -= size
                return value === 0 ? null : (
                  <rect
                    key={name}
                    className={tone}
                    x={at * step + step * 0.1}
                    width={step * 0.8}
                    y={top}
                    height={Math.max(1.5, size)}
                  >
                    <title>{`${label}: ${whole.format(value)} ${name}`}</title>
                  </rect>
                )
              })}
            </g>
          )
        })}
      </svg>
      <div className={every === 1 ? 'chart-labels each' : 'chart-labels'} aria-hidden="true">
        {steps
          .filter(({ at }) => at % every === 0)
          .map(({ label, at }) => {
            const room = Math.min(every, labels.length - at)
            return (
              <span key={at} style={{ flexGrow: room }}>
                {/* The last one may have less room than its words need. */}
                {room >= every / 2 && label}
              </span>
            )
          })}
      </div>
      {/* A table is as wide as its words, even where it is hidden. */}
      <div className="hidden">
        <Table
          label={title}
          rows={steps}
          keyOf={({ at }) => String(at)}
          columns={[
            [words.when, ({ label }) => label],
            ...series.map(({ name, values }) => [name, ({ at }: Step) => values[at] ?? 0] as const),
          ]}
        />
      </div>
    </figure>
  )
}

export const Legend = ({ series }: { series: readonly Series[] }) => (
  <span className="small faint legend">
    {series.map(({ name, tone, values }) => (
      <span key={name}>
        <span className={`swatch ${tone}`} aria-hidden="true" /> {name}{' '}
        <strong>{whole.format(values.reduce((sum, value) => sum + value, 0))}</strong>
      </span>
    ))}
  </span>
)
