/** `plinth open`: opens the explorer in the browser, signed in. */
import { spawn } from 'node:child_process'
import type { Command } from 'commander'
import { call } from './command/client.ts'
import { configure, valued } from './command/command.ts'
import { misused } from './command/failure.ts'
import { note, print } from './command/print.ts'
import { type Flags, readSettings, serverUrl, tokenFor } from './command/settings.ts'

type OpenFlags = { endpoint?: string; playground?: true; print?: true }

export function addOpen(program: Command): void {
  configure(
    program
      .command('open')
      .description(
        'Open the explorer in the browser, signed in, or at the sign-in of your organization; a base with --base',
      ),
  )
    .option('--playground', 'open the GraphQL playground')
    .addOption(valued('--endpoint <id>', 'open the GraphQL playground of an endpoint of the base'))
    .option('--print', 'print the address, and open nothing; so does --json')
    .action(async (flags: OpenFlags) => {
      const settings = readSettings(program.opts<Flags>())
      const url = serverUrl(settings)
      const path = pathOf(settings.base, flags)
      const token = tokenFor(url, settings)
      const signIn = token === undefined ? await signInAt(url, path) : undefined
      const address = signIn ?? `${url}${path}#code=${await codeFor(url, token)}`
      const { json: asJson } = program.opts<Flags>()
      const isOpen = !asJson && !flags.print && mayOpen() && (await start(address))
      if (asJson) print(`${JSON.stringify({ url: address })}\n`)
      else if (isOpen) note(`The browser opens ${url}${path}\n`)
      else {
        note(signIn ? 'Open this address in a browser, and sign in.\n' : ONCE)
        print(`${address}\n`)
      }
    })
}

const ONCE = 'Open this address in a browser within a minute. It works once.\n'

const codeFor = async (url: string, token: string | undefined): Promise<string> =>
  ((await call(url, token, REQUEST)).body as { code: string }).code

/** Where a person signs in whose command line has no token; undefined where the server has no provider for that. */
async function signInAt(url: string, path: string): Promise<string | undefined> {
  const address = `${url}/sign-in?to=${encodeURIComponent(path)}`
  const asked = fetch(address, { redirect: 'manual', signal: AbortSignal.timeout(START_MS) })
  const status = await asked.then((answer) => answer.status).catch(() => undefined)
  return status === 303 ? address : undefined
}

const REQUEST = {
  method: 'POST' as const,
  path: '/tokens/self/sign-in-codes',
  query: new URLSearchParams(),
  headers: {},
  body: undefined,
  streams: false,
}

function pathOf(base: string | undefined, { endpoint, playground }: OpenFlags): string {
  if (base === undefined && endpoint !== undefined)
    throw misused('The base is missing. Pass --base <id>, or set PLINTH_BASE.')
  if (!playground && endpoint === undefined)
    return base === undefined ? '/' : `/b/${encodeURIComponent(base)}`
  const parts = [...(base === undefined ? [] : [base]), ...(endpoint === undefined ? [] : ['e', endpoint])]
  return ['/graphql', ...parts.map(encodeURIComponent)].join('/')
}

/** Whether somebody sits before a screen: a terminal, and on Linux a display. */
const mayOpen = (): boolean =>
  process.stdout.isTTY &&
  (['darwin', 'win32'].includes(process.platform) ||
    Boolean(process.env['DISPLAY'] || process.env['WAYLAND_DISPLAY']))

/** Starts the browser of the system; false if there is none. */
function start(address: string): Promise<boolean> {
  const [command = '', ...args] = {
    darwin: ['open', address],
    win32: ['rundll32', 'url.dll,FileProtocolHandler', address],
  }[process.platform as string] ?? ['xdg-open', address]
  return new Promise((resolve) => {
    const child = spawn(command, args, { detached: true, stdio: 'ignore' })
    child.once('error', () => resolve(false))
    child.once('exit', (code) => resolve(code === 0))
    // A browser that the command itself runs keeps it alive.
    setTimeout(() => resolve(true), START_MS).unref()
    child.unref()
  })
}

const START_MS = 3000
