/** How much happened, by minute, hour or day, and by agents, programs and people. */
import type { Kind } from '../../api/session.ts'
import { Chart, Legend, type Series } from '../../parts/chart.tsx'
import { whole } from '../../parts/text.ts'
import { clock, day, HOUR } from '../../parts/time.tsx'
import { words } from '../../words.ts'
import { type Bar, type Unit, useBars } from './load.ts'

const KINDS = ['agent', 'program', 'person'] as const
const MOST_BARS = 400

export function Bars({ base, since }: { base: string; since: string }) {
  const { unit, from, bars } = useBars(base, since)
  if (!bars) return null
  const times = timesFrom(Date.parse(from), unit)
  const labels = times.map((at) => (unit === 'day' ? day : clock).format(at))
  const series = KINDS.map(
    (kind): Series => ({
      name: words.activity.only[kind],
      tone: `tone-${kind}`,
      values: times.map((at, index) =>
        requestsIn(bars, kind, at, times[index + 1] ?? Number.POSITIVE_INFINITY),
      ),
    }),
  )
  const sum = (of: 'requests' | 'changes') => bars.reduce((total, each) => total + each[of], 0)
  return (
    <section className="card bars">
      <header>
        <span>
          <strong>{whole.format(sum('requests'))}</strong> {words.activity.ofRequestsWord},{' '}
          <strong>{whole.format(sum('changes'))}</strong> {words.activity.ofChangesWord}
        </span>
        <Legend series={series} />
      </header>
      <Chart labels={labels} series={series} title={words.activity.chart} height={72} />
    </section>
  )
}

function timesFrom(from: number, unit: Unit): number[] {
  const at = new Date(from)
  if (unit === 'day') at.setHours(0, 0, 0, 0)
  else if (unit === 'hour') at.setMinutes(0, 0, 0)
  const times: number[] = []
  while (at.getTime() <= Date.now() && times.length < MOST_BARS) {
    times.push(at.getTime())
    if (unit === 'day') at.setDate(at.getDate() + 1)
    else at.setTime(at.getTime() + (unit === 'hour' ? HOUR : 60_000))
  }
  return times
}

const requestsIn = (bars: readonly Bar[], kind: Kind, from: number, until: number) =>
  bars
    .filter((bar) => bar.kind === kind && Date.parse(bar.at) >= from && Date.parse(bar.at) < until)
    .reduce((sum, { requests }) => sum + requests, 0)
