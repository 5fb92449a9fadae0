import { Card, ListPage, Rows, Table } from '../../parts/card.tsx'
import './operate.css'
import type { PageProps } from '../../addresses.ts'
import { type Diagnostics, useRead } from '../../api/queries.ts'
import { Failure, pendingOf } from '../../parts/answer.tsx'
import { Chart } from '../../parts/chart.tsx'
import { Chip, fieldName, Meta, shortTime, span, Text, type Tone, whole } from '../../parts/text.tsx'
import { bytes, words } from '../../words.ts'
import { latest, minutes, type Read, sum, useMetrics } from './metrics.ts'

type Status = Diagnostics['status']
const TONES: Readonly<Record<Status, Tone>> = { ok: 'added', warning: 'changed', error: 'removed' }

export default function Page(_: PageProps) {
  const checks = useRead<Diagnostics>('/v1/diagnostics')
  const metrics = useMetrics()
  const reads = metrics.data ?? []
  const now = reads.at(-1)
  const found = checks.data?.checks ?? []
  const text = words.operate
  return (
    <ListPage
      nav={words.nav.operate}
      title={words.nav.operate}
      about={text.about}
      tools={checks.data && <Chip tone={TONES[checks.data.status]}>{text.states[checks.data.status]}</Chip>}
    >
      {pendingOf(checks, 8)}
      {checks.data && (
        <div className="stack gap-6">
          {metrics.error && <Failure of={metrics.error} />}
          {now && <LastMinute reads={reads} now={now} />}
          <div className="stack gap-6 columns">
            <Table
              label={text.checks}
              // What needs a look stands first.
              rows={found.toSorted((a, b) => RANK[a.status] - RANK[b.status])}
              keyOf={({ name }) => name}
              columns={[
                [
                  text.checks,
                  ({ name, message }) => (
                    <>
                      {text.names[name] ?? fieldName(name)}
                      <Meta>{message}</Meta>
                    </>
                  ),
                ],
                [
                  text.state,
                  ({ status }) => <Chip tone={TONES[status]}>{text.marks[status]}</Chip>,
                  'kind-cell',
                ],
              ]}
            />
            {now && <Jobs of={now} />}
          </div>
        </div>
      )}
    </ListPage>
  )
}

const RANK: Readonly<Record<Status, number>> = { error: 0, warning: 1, ok: 2 }

function LastMinute({ reads, now }: { reads: readonly Read[]; now: Read }) {
  const text = words.operate
  const minute = latest(reads)
  const shown = minutes(reads)
  const of = (name: string) => sum(now, name)
  const bytesOf = (what: string) => bytes(sum(now, 'plinth_bytes', ({ of: label }) => label === what))
  const tiles: readonly (readonly [string, string])[] = [
    [minute ? (minute.count / minute.seconds).toFixed(1) : '…', text.perSecond],
    [minute ? whole.format(minute.failed) : '…', text.failed],
    [minute ? text.ms(minute.share(0.5)) : '…', text.half],
    [minute ? text.ms(minute.share(0.95)) : '…', text.most],
    [whole.format(of('plinth_database_in_use')), text.connections],
    [whole.format(of('plinth_streams')), text.streams],
    [bytes(of('process_resident_memory_bytes')), text.memory],
    [bytesOf('database'), text.database],
    [bytesOf('free'), text.free],
    [span(now.at - of('process_start_time_seconds') * 1000), text.up],
  ]
  return (
    <section className="stack gap-3 operate-numbers" aria-label={text.numbers}>
      <dl className="box sunken numbers-box">
        {tiles.map(([value, name]) => (
          <div key={name}>
            <dd>{value}</dd>
            <dt className="small">{name}</dt>
          </div>
        ))}
      </dl>
      <h2>{text.chart}</h2>
      <Chart
        title={text.chart}
        labels={shown.map(({ start }) => shortTime(start))}
        series={[
          { name: text.failed, tone: 'tone-4', values: shown.map(({ failed }) => failed) },
          { name: text.answered, tone: 'tone-0', values: shown.map(({ count, failed }) => count - failed) },
        ]}
      />
    </section>
  )
}

function Jobs({ of: { samples } }: { of: Read }) {
  const jobs = samples.filter(({ name, value }) => name === 'plinth_jobs' && value > 0)
  return (
    <Card title={words.operate.jobs}>
      {jobs.length === 0 && <p className="card-item meta">{words.operate.noJobs}</p>}
      <Rows
        className="card-item row spread"
        of={jobs.map(({ labels: { task = '', state = '' }, value }) => [
          `${task} ${state}`,
          <Text key="task">{fieldName(task)}</Text>,
          <span key="state" className={/fail|error/.test(state) ? 'failed-word' : ''}>
            {whole.format(value)} {fieldName(state)}
          </span>,
        ])}
      />
    </Card>
  )
}
