/** Activity: what happened, who did it, and the way back. */
import type { PageProps } from '../../addresses.ts'
import { type Kind, type RecordType, useTypes } from '../../api/queries.ts'
import { Empty, pendingOf, Skeleton } from '../../parts/answer.tsx'
import { Button, More } from '../../parts/button.tsx'
import { ListPage } from '../../parts/card.tsx'
import { Chart, Legend, type Series } from '../../parts/chart.tsx'
import { useParameters } from '../../parts/link.tsx'
import { clock, day, HOUR, longDay, timeNow, useNow, whole, zone } from '../../parts/text.tsx'
import { ConnectButton } from '../../shell/connect.tsx'
import { useKey } from '../../shell/keys.tsx'
import { words } from '../../words.ts'
import { Filters, Range } from './filters.tsx'
import { type Folded, fold, type Part, partOf } from './fold.ts'
import { type Bar, DAY, type Unit, useBars, useFeed, useIsReady } from './load.ts'
import { Rail } from './rail.tsx'
import { Row } from './row.tsx'
import './activity.css'

export default function Activity({ place: { base } }: PageProps) {
  const [search, setSearch] = useParameters()
  const now = useNow()
  const types = useTypes(base).data ?? []
  const feed = useFeed(base, search)
  const groups = (feed.data ?? []).filter(
    ({ call }) => search['tool'] === undefined || call?.tool === search['tool'],
  )
  const since = search['since'] ?? DAY
  const isReady = useIsReady(base, since, feed)
  const given = Object.keys(search)
  const showAll = () => setSearch(Object.fromEntries(given.map((each) => [each, undefined])))
  useKey('j', next)
  useKey('k', last)
  return (
    <ListPage
      nav={words.nav.activity}
      title={words.activity.title}
      about={`${longDay.format(now)} · ${words.activity.timesOf(zone())}`}
      bar={<ConnectButton base={base} />}
      tools={<Range search={search} onChange={setSearch} />}
    >
      {!isReady && <Skeleton lines={10} />}
      {isReady && (
        <div className="stack gap-6 columns">
          <div>
            <Bars base={base} since={since} />
            <Filters search={search} groups={feed.data ?? []} types={types} onChange={setSearch} />
            {pendingOf(feed, 10)}
            {feed.data && groups.length === 0 && (
              <Empty title={given.length > 0 ? words.activity.noneOfFilter : words.activity.none}>
                {given.length > 0 && <Button label={words.activity.showAll} onClick={showAll} />}
              </Empty>
            )}
            <Feed base={base} rows={fold(groups)} types={types} now={now} onFilter={setSearch} />
            <More of={feed} label={words.older} />
          </div>
          <Rail base={base} since={since} />
        </div>
      )}
    </ListPage>
  )
}

/** Goes to the row below or above; `Space` and `Enter` open it in place. */
const step = (by: 1 | -1) => () => {
  const rows = [...document.querySelectorAll<HTMLElement>('.feed-time')]
  const at = rows.findIndex((each) => each.closest('li')?.contains(document.activeElement))
  rows[at < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, at + by))]?.focus()
}
const [next, last] = [step(1), step(-1)]

type FeedProps = {
  base: string
  rows: readonly Folded[]
  types: readonly RecordType[]
  now: number
  onFilter: Parameters<typeof Row>[0]['onFilter']
}

/** The rows under the part of the day that they are of. */
function Feed({ base, rows, types, now, onFilter }: FeedProps) {
  const parts: { part: Part; rows: Folded[] }[] = []
  for (const row of rows) {
    const part = partOf(row.last, now)
    if (parts.at(-1)?.part !== part) parts.push({ part, rows: [] })
    parts.at(-1)?.rows.push(row)
  }
  return parts.map((each) => (
    <section key={each.part} className="feed" aria-label={nameOfPart(each.part)}>
      <h2 className="meta medium ruled">{nameOfPart(each.part)}</h2>
      <ul>
        {each.rows.map((row) => (
          <Row key={keyOf(row)} base={base} row={row} types={types} onFilter={onFilter} />
        ))}
      </ul>
    </section>
  ))
}

/** A row grows at its newer end while its author goes on: it stays the same one, with what is open in it. */
const keyOf = ({ groups, first }: Folded) => `${groups.at(-1)?.request_id} ${first}`
const nameOfPart = (part: Part): string =>
  typeof part === 'number' ? longDay.format(part) : words.activity.parts[part]

const KINDS = ['agent', 'program', 'person'] as const
const MOST_BARS = 400

/** How much happened, by minute, hour or day, and by agents, programs and people. */
function Bars({ base, since }: { base: string; since: string }) {
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
      <header className="chips spread">
        <span>
          <strong>{whole.format(sum('requests'))}</strong> {words.activity.ofRequestsWord(sum('requests'))},{' '}
          <strong>{whole.format(sum('changes'))}</strong> {words.activity.ofChangesWord(sum('changes'))}
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
  while (at.getTime() <= timeNow() && times.length < MOST_BARS) {
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
