import { parseArgs } from 'node:util'

export type Options = {
  rounds: number
  seconds: number
  records: number
  connections: number
  only: RegExp
  /** Write the ratios to the baseline, instead of holding them against it. */
  update: boolean
  /** Replace the table in docs/performance.md. */
  write: boolean
  /** Where to leave CPU profiles of both servers. */
  profile: string | undefined
}

const USAGE = `npm run bench -- [options]
  --rounds <n>       paired rounds of each work (5)
  --seconds <n>      length of a round (3)
  --connections <n>  requests in flight (32)
  --records <n>      records in the type that is read and written (100000)
  --only <regex>     only what matches
  --update           write the ratios to test/bench/baseline.json
  --write            replace the table in docs/performance.md
  --profile <dir>    leave CPU profiles of both servers there
`

export function readOptions(argv: readonly string[]): Options {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean', default: false } as const
  const { values } = parseArgs({
    args: [...argv],
    options: {
      ...{ rounds: text, seconds: text, connections: text, records: text, only: text, profile: text },
      ...{ update: flag, write: flag, help: flag },
    },
  })
  if (values.help) {
    process.stdout.write(USAGE)
    process.exit(0)
  }
  return {
    rounds: number('rounds', values.rounds, 5, 1, 100),
    seconds: number('seconds', values.seconds, 3, 0.2, 600),
    connections: number('connections', values.connections, 32, 1, 512),
    records: number('records', values.records, 100_000, 100, 5_000_000),
    only: new RegExp(values.only ?? '', 'i'),
    update: values.update,
    write: values.write,
    profile: values.profile,
  }
}

function number(name: string, text: string | undefined, standard: number, min: number, max: number): number {
  const value = text === undefined ? standard : Number(text)
  if (value >= min && value <= max) return value
  throw new Error(`--${name} is a number from ${min} to ${max}.\n\n${USAGE}`)
}
