/** A server on a machine of one core and little memory, where the kernel lets this process make a group of processes. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const CGROUPS = '/sys/fs/cgroup'

type Group = { folder: string; most: string; limit: string; killed: () => number }

/** Makes a group below the one of this process, with a limit of memory and no swap. Undefined where it may not. */
function openGroup(bytes: number): Group | undefined {
  if (spawnSync('taskset', ['--version']).status !== 0) return undefined
  for (const { parent, limit, most, kills } of parents()) {
    const folder = join(parent, `plinth-${process.pid}`)
    try {
      mkdirSync(folder)
      writeFileSync(join(folder, limit), String(bytes))
      const killed = () => Number(/^oom_kill (\d+)$/m.exec(readFileSync(join(folder, kills), 'utf8'))?.[1])
      return { folder, most, limit, killed }
    } catch {
      closeGroup(folder)
    }
  }
  return undefined
}

/** The group of this process, in the two forms that Linux has. */
function parents() {
  let own: string
  try {
    own = readFileSync('/proc/self/cgroup', 'utf8')
  } catch {
    return []
  }
  const first = /^\d+:memory:(.*)$/m.exec(own)?.[1]
  const second = /^0::(.*)$/m.exec(own)?.[1]
  const former = {
    limit: 'memory.limit_in_bytes',
    most: 'memory.max_usage_in_bytes',
    kills: 'memory.oom_control',
  }
  const unified = { limit: 'memory.max', most: 'memory.peak', kills: 'memory.events' }
  return [
    ...(first === undefined ? [] : [{ parent: join(CGROUPS, 'memory', first), ...former }]),
    ...(second === undefined ? [] : [{ parent: join(CGROUPS, second), ...unified }]),
  ]
}

function closeGroup(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {
    // It was never made, or the kernel has not yet removed the last process.
  }
}

export type SmallMachine = {
  url: string
  most: () => number
  killed: () => number
  close: () => Promise<number | null>
}

/** Starts the server as `npm start` does, on one core and with that much memory. Undefined where that cannot be. */
export async function startSmall(
  bytes: number,
  settings: Record<string, string>,
): Promise<SmallMachine | undefined> {
  const group = openGroup(bytes)
  if (!group) return undefined
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: { start: string }
  }
  const own = Object.entries(process.env).filter(([name]) => !/^(PLINTH_|DATABASE_URL)/.test(name))
  const script = `echo $$ > '${group.folder}/cgroup.procs' && taskset -cp 0 $$ > /dev/null && ${scripts.start}`
  const child = spawn('sh', ['-c', script], {
    cwd: ROOT,
    env: { ...Object.fromEntries(own), ...settings },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const url = await readyLine(child)
  return {
    url,
    most: () => Number(readFileSync(join(group.folder, group.most), 'utf8')),
    killed: group.killed,
    close: async () => {
      const ended = once(child, 'close') as Promise<[number | null]>
      child.kill('SIGTERM')
      const [code] = await ended
      for (let n = 0; n < 50 && readFileSync(join(group.folder, 'cgroup.procs'), 'utf8') !== ''; n++)
        await sleep(100)
      closeGroup(group.folder)
      return code
    },
  }
}

function readyLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let out = ''
    child.stdout?.on('data', (chunk: Buffer) => {
      out += chunk
      const url = /^plinth ready (\S+)$/m.exec(out)?.[1]
      if (url) resolve(url)
    })
    child.once('close', (code) => reject(new Error(`The server ended with ${code} before it was ready.`)))
  })
}
