import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const BIN = fileURLToPath(new URL('../../bin/plinth.mjs', import.meta.url))

export type Run = { code: number | null; out: string; err: string }
export type Settings = Record<string, string | undefined>

/** Starts the command as a user would, with nothing of Plinth's in the environment but what is given. */
export function start(args: readonly string[], settings: Settings) {
  const own = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(PLINTH_|DATABASE_URL)/.test(name)),
  )
  return spawn(process.execPath, [BIN, ...args], { env: { ...own, ...settings }, stdio: 'pipe' })
}

/** Runs the command to its end. */
export async function plinth(args: readonly string[], settings: Settings, input = ''): Promise<Run> {
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
