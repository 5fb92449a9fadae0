import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export type Run = { code: number | null; out: string; err: string }

/**
 * Runs a script with this Node until it exits. The environment has no Plinth variables except the given ones.
 */
export async function runNode(
  script: string,
  args: readonly string[],
  settings: Record<string, string | undefined> = {},
): Promise<Run> {
  const own = Object.entries(process.env).filter(([name]) => !/^(PLINTH_|DATABASE_URL)/.test(name))
  const env = { ...Object.fromEntries(own), ...settings }
  const child = spawn(process.execPath, [script, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const run: Run = { code: null, out: '', err: '' }
  child.stdout.on('data', (chunk: Buffer) => {
    run.out += chunk
  })
  child.stderr.on('data', (chunk: Buffer) => {
    run.err += chunk
  })
  run.code = await new Promise((resolve) => child.on('close', resolve))
  return run
}

const require = createRequire(import.meta.url)
const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url))

/** Path of the script behind a command of an installed package. */
export function commandOf(packageName: string, command: string): string {
  const manifest = join(MODULES, packageName, 'package.json')
  const { bin } = require(manifest) as { bin: string | Record<string, string> }
  const path = typeof bin === 'string' ? bin : bin[command]
  if (path === undefined) throw new Error(`${packageName} has no command ${command}`)
  return join(dirname(manifest), path)
}
