#!/usr/bin/env node
/** The command. On a Node that cannot run TypeScript it hands over to the one that was installed with it. */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import module from 'node:module'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { bundledNode, isNewEnough } from './runtime.mjs'

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP']
/** The same signal may come twice for one wish: from the terminal or the group, and from npm, which passes it on. */
const SAME_WISH_MS = 500

// Other users of the machine can read the command line of a process. Where it has a token, its name takes its place.
if (process.argv.some((each) => /^--token(=|$)/.test(each))) process.title = 'plinth'

if (isNewEnough) await run()
else handOver()

async function run() {
  // Compiled code is kept beside the packages, or nowhere where they cannot be written: starts take half as long.
  module.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/plinth', import.meta.url)))
  // With its parent killed outright, nobody is left to end this process.
  if (process.env.PLINTH_HANDED_OVER && process.channel) {
    process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
    process.channel.unref()
  }
  const sources = new URL('../src/cli/main.ts', import.meta.url)
  const isCheckout = existsSync(sources)
  if (isCheckout) await prepareCheckout()
  const entry = isCheckout ? await ofCheckout(sources) : new URL('../dist/cli/main.mjs', import.meta.url)
  const { main } = await import(entry.href)
  const code = await main(process.argv.slice(2))
  process.exitCode = code
  // After a failure nothing may keep the process alive; output that is still on its way gets its time.
  if (code !== 0) setTimeout(() => process.exit(code), 2000).unref()
}

async function prepareCheckout() {
  const { isPrepared, prepare, isExplorerBuilt, buildExplorer } = await import('./prepare.mjs')
  try {
    if (!isPrepared()) prepare()
    if (process.argv[2] === 'serve' && !isExplorerBuilt()) buildExplorer()
  } catch (error) {
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  }
}

/** The bundle, if it is of these sources; the sources themselves where Node watches them for changes. */
async function ofCheckout(sources) {
  if (process.env.WATCH_REPORT_DEPENDENCIES) return sources
  const { bundled } = await import('./bundle.mjs')
  return bundled() ?? sources
}

function handOver() {
  const node = bundledNode()
  if (!node) {
    process.stderr.write(tooOld())
    process.exit(1)
  }
  const { execArgv, argv } = process
  // A group of its own: what is sent to ours reaches the child once, through us. The channel tells it of our end.
  const child = spawn(node, [...execArgv, fileURLToPath(import.meta.url), ...argv.slice(2)], {
    detached: true,
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, PLINTH_HANDED_OVER: '1' },
  })
  const last = new Map()
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      const now = Date.now()
      if (now - (last.get(signal) ?? 0) > SAME_WISH_MS) child.kill(signal)
      last.set(signal, now)
    })
  }
  child.on('error', (error) => {
    process.stderr.write(`The Node that was installed with Plinth does not start: ${error.message}\n`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => {
    if (!signal) process.exit(code)
    for (const name of SIGNALS) process.removeAllListeners(name)
    process.kill(process.pid, signal)
  })
}

function tooOld() {
  const { platform, arch, versions } = process
  const hasPackage = platform === 'linux' && ['x64', 'arm64'].includes(arch)
  const beside = hasPackage ? `, or one beside Plinth: npm install node-linux-${arch}@24` : ''
  return `Plinth needs Node 22.18 or newer; this is ${versions.node}.\nInstall a newer Node${beside}\n`
}
