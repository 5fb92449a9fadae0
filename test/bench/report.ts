import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, release, totalmem, type } from 'node:os'
import type { Measured, Round } from './measure.ts'
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
  const { rounds, seconds, connections } = options
  const [processor] = cpus()
  const machine = `${processor?.model ?? 'unknown processor'} × ${cpus().length}, ${Math.round(totalmem() / 1024 ** 3)} GB, ${type()} ${release()}, Node ${process.versions.node}, ${database}`
  return [
    `${new Date().toISOString().slice(0, 10)}, on ${machine}. Client, both servers and database share it; load average before the run ${loadBefore.toFixed(1)}.`,
    `Medians of ${rounds} paired rounds of ${seconds} s at ${connections} connections; each cell is *floor / Plinth*. Rate limit off; Plinth's log, at its default level, goes to /dev/null.`,
    table(
      [
        'Work',
        'Ratio',
        'Lowest to highest',
        'Requests a second',
        'p50 ms',
        'p99 ms',
        'CPU ms a request: server',
        'database',
      ],
      results.map(workRow),
    ),
    table(
      ['Moment', 'Plinth', 'Note'],
      moments.map(({ name, value, note }) => [name, value, note]),
    ),
  ]
    .filter(Boolean)
    .join('\n\n')
}

function workRow({ name, floor, plinth, ratio, spread }: Measured): string[] {
  const both = (show: (round: Round) => string) => `${show(floor)} / ${show(plinth)}`
  return [
    name,
    `**${ratio.toFixed(2)}**`,
    spread.map((value) => value.toFixed(2)).join(' – '),
    both(({ perSecond }) => Math.round(perSecond).toLocaleString('en')),
    both(({ p50 }) => p50.toFixed(1)),
    both(({ p99 }) => p99.toFixed(1)),
    both(({ serverMs }) => cpu(serverMs)),
    both(({ databaseMs }) => cpu(databaseMs)),
  ]
}

const cpu = (ms: number) => (Number.isNaN(ms) ? '–' : ms.toFixed(2))

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
