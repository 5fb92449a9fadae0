import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Errand } from './host.ts'

const BIN = fileURLToPath(new URL('../../bin/plinth.mjs', import.meta.url))
const HOST = fileURLToPath(new URL('host.ts', import.meta.url))

export type Run = { code: number | null; out: string; err: string }
export type Settings = Record<string, string | undefined>

/** The environment of a user: nothing of Plinth or of a CI, and no wish for colors, but what is given. */
function environment(settings: Settings): Record<string, string> {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(PLINTH_|DATABASE_URL|NO_COLOR|FORCE_COLOR|CI$)/.test(name),
  )
  const all = [...own, ...Object.entries(settings)]
  return Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== undefined))
}

/** Starts the command as a user would, in a process of its own. */
export function start(args: readonly string[], settings: Settings) {
  return spawn(process.execPath, [BIN, ...args], { env: environment(settings), stdio: 'pipe' })
}

/** Runs the command to its end, in a process of its own. For tests of exit codes, signals and standard streams. */
export async function plinthProcess(args: readonly string[], settings: Settings, input = ''): Promise<Run> {
  const child = start(args, settings)
  const run: Run = { code: null, out: '', err: '' }
  child.stdout.on('data', (chunk: Buffer) => {
    run.out += chunk
  })
  child.stderr.on('data', (chunk: Buffer) => {
    run.err += chunk
  })
  child.stdin.end(input)
  run.code = await new Promise((resolve) => child.on('close', resolve))
  return run
}

/** Runs the command on a pseudo terminal, by `script` of util-linux, and types the input. All that the terminal shows is `out`. */
export async function plinthOnTerminal(
  args: readonly string[],
  settings: Settings,
  input: string,
  whileAsked = () => Promise.resolve<unknown>(undefined),
): Promise<Omit<Run, 'err'>> {
  const command = [process.execPath, BIN, ...args].map((each) => `'${each}'`).join(' ')
  const child = spawn('script', ['-qec', command, '/dev/null'], { env: environment(settings), stdio: 'pipe' })
  let out = ''
  let isAsked = false
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk
    // Only an answer to the question counts.
    if (isAsked || !out.includes('[y/N]')) return
    isAsked = true
    void whileAsked().finally(() => child.stdin.end(input))
  })
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  return { code, out }
}

let host: ChildProcess | undefined
/** Ends when all commands that were given have run. */
let queue: Promise<unknown> = Promise.resolve()

/** Runs the command to its end in the process that the test files of a worker share, after those before it. `columns` gives it a terminal. */
export function plinth(
  args: readonly string[],
  settings: Settings,
  input = '',
  terminal: { columns?: number } = {},
): Promise<Run> {
  const run = queue.then(() => runInHost({ args, env: environment(settings), input, ...terminal }))
  queue = run.catch(() => {})
  return run
}

async function runInHost(errand: Errand): Promise<Run> {
  host ??= startHost()
  const ended = new AbortController()
  const { signal } = ended
  try {
    host.send(errand)
    const [run] = await Promise.race([
      once(host, 'message', { signal }) as Promise<[Run]>,
      once(host, 'exit', { signal }).then(([code]) => {
        host = undefined
        throw new Error(`The process of the commands ended with ${code} in: plinth ${errand.args.join(' ')}`)
      }),
    ])
    return run
  } finally {
    ended.abort()
  }
}

/** The process ends with this one. */
function startHost(): ChildProcess {
  const child = fork(HOST, { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  child.unref()
  child.channel?.unref()
  return child
}
