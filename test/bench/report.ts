import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, release, totalmem, type } from 'node:os'
import { foreignShare, type Measured, type Turn } from './measure.ts'
import type { Moment } from './moments.ts'
import type { Options } from './options.ts'

type Run = {
  options: Options
  results: readonly Measured[]
  moments: readonly Moment[]
  database: string
  loadBefore: number
}

/** The result as Markdown. */
export function report({ options, results, moments, database, loadBefore }: Run): string {
  const { turns, scale, connections } = options
  const [processor] = cpus()
  const machine = `${processor?.model ?? 'unknown processor'} × ${cpus().length}, ${Math.round(totalmem() / 1024 ** 3)} GB, ${type()} ${release()}, Node ${process.versions.node}, ${database}`
  const foreign = results.length === 0 ? '' : ` Other processes took ${percent(foreignShare(results))} of it.`
  const sized = scale === 1 ? '' : `, with ${scale} of the usual requests`
  const both = '*floor / Plinth*'
  return [
    `${new Date().toISOString().slice(0, 10)}, on ${machine}. Client, both servers and database share it; load average before the run ${loadBefore.toFixed(1)}.${foreign}`,
    `Medians of ${turns} turns at ${connections} connections${sized}; each cell but the ratio is ${both}. Rate limit off; Plinth's log, at its default level, goes to /dev/null.`,
    table(
      [
        'Work',
        'Ratio',
        'Lowest to highest',
        'Most',
        'CPU µs a request: server',
        'database',
        'Requests a second',
        'p50 ms',
        'p99 ms',
      ],
      results.map(workRow),
    ),
    table(['Work', 'Statements a request', 'Rows', 'WAL records', 'WAL bytes'], results.map(countRow)),
    table(
      ['Moment', 'Plinth', 'Most', 'Note'],
      moments.map(({ name, value, note, must }) => [name, value, must ? String(must.most) : '', note]),
    ),
  ]
    .filter(Boolean)
    .join('\n\n')
}

type Show = (turn: Turn) => string
const paired = ({ floor, plinth }: Measured, show: Show) => `${show(floor)} / ${show(plinth)}`

function workRow(measured: Measured): string[] {
  const { work, ratio, spread } = measured
  return [
    work.name,
    `**${ratio.toFixed(2)}**`,
    spread.map((value) => value.toFixed(2)).join(' – '),
    work.must === undefined ? '' : String(work.must),
    paired(measured, ({ serverUs }) => whole(serverUs)),
    paired(measured, ({ databaseUs }) => whole(databaseUs)),
    paired(measured, ({ perSecond }) => whole(perSecond)),
    paired(measured, ({ p50 }) => p50.toFixed(1)),
    paired(measured, ({ p99 }) => p99.toFixed(1)),
  ]
}

const countRow = (measured: Measured): string[] => [
  measured.work.name,
  paired(measured, ({ statements }) => statements.toFixed(2)),
  paired(measured, ({ rows }) => rows.toFixed(1)),
  paired(measured, ({ walRecords }) => walRecords.toFixed(1)),
  paired(measured, ({ walBytes }) => whole(walBytes)),
]

const whole = (value: number) => (Number.isNaN(value) ? '–' : Math.round(value).toLocaleString('en'))
export const percent = (share: number): string => `${Math.round(share * 100)} %`

function table(head: readonly string[], rows: readonly string[][]): string {
  if (rows.length === 0) return ''
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

const PAGE = new URL('../../docs/performance.md', import.meta.url)
const BEGIN = '<!-- bench:begin -->'
const END = '<!-- bench:end -->'

/** Puts the result between the two markers of docs/performance.md. */
export function writePage(text: string): void {
  const page = readFileSync(PAGE, 'utf8')
  const [before, rest = ''] = page.split(BEGIN)
  const [, after] = rest.split(END)
  if (before === undefined || after === undefined)
    throw new Error(`docs/performance.md lost ${BEGIN} or ${END}`)
  writeFileSync(PAGE, `${before}${BEGIN}\n${text}\n${END}${after}`)
}
