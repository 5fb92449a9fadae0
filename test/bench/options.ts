import { parseArgs } from 'node:util'

export type Options = {
  /** Turns of each work. */
  turns: number
  /** Requests of each turn, and of the warming, as a multiple of those of the work. */
  scale: number
  records: number
  connections: number
  /** Whether a work or another part of the run is wanted, by its key. */
  wants: (key: string) => boolean
  /** Write the ratios to the baseline, instead of holding them against it. */
  update: boolean
  /** Replace the table in docs/performance.md. */
  write: boolean
  /** Where to leave CPU profiles of both servers. */
  profile: string | undefined
}

const KEYS = [
  ...['get', 'put', 'create', 'batch', 'newest', 'list', 'aggregate', 'graphql', 'graphql-base'],
  ...['mcp-2025', 'mcp-2026', 'start', 'queries', 'types', 'import', 'tools', 'memory', 'change-sets'],
]

const USAGE = `npm run bench -- [options]
  --only <keys>      some of: ${KEYS.join(', ')}
                     with commas; "mcp" is mcp-2025 and mcp-2026
  --turns <n>        turns of each work (9)
  --scale <n>        requests of each turn, as a multiple of the usual (1)
  --connections <n>  requests in flight (32)
  --records <n>      records in the type that is read and written (100000)
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
      ...{ turns: text, scale: text, connections: text, records: text, only: text, profile: text },
      ...{ update: flag, write: flag, help: flag },
    },
  })
  if (values.help) {
    process.stdout.write(USAGE)
    process.exit(0)
  }
  return {
    turns: number('turns', values.turns, 9, 1, 100),
    scale: number('scale', values.scale, 1, 0.01, 100),
    connections: number('connections', values.connections, 32, 1, 512),
    records: number('records', values.records, 100_000, 100, 5_000_000),
    wants: wanting(values.only),
    update: values.update,
    write: values.write,
    profile: values.profile,
  }
}

function wanting(only: string | undefined): (key: string) => boolean {
  if (only === undefined) return () => true
  const wanted = only.split(',')
  const meets = (key: string, one: string) => key === one || key.startsWith(`${one}-`)
  for (const one of wanted)
    if (!KEYS.some((key) => meets(key, one))) throw new Error(`--only knows no "${one}".\n\n${USAGE}`)
  return (key) => wanted.some((one) => meets(key, one))
}

function number(name: string, text: string | undefined, standard: number, min: number, max: number): number {
  const value = text === undefined ? standard : Number(text)
  if (value >= min && value <= max) return value
  throw new Error(`--${name} is a number from ${min} to ${max}.\n\n${USAGE}`)
}
