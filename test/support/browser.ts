/** A headless Chromium of the machine, driven by its DevTools protocol. */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sleep } from './answers.ts'

/** Where Chromium is; undefined where there is none. */
export const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  (path) => existsSync(path),
)

export type Browser = {
  open(url: string): Promise<void>
  /** The value of an expression in the page. */
  evaluate<T>(expression: string): Promise<T>
  /** Waits until the expression is true. */
  until(expression: string): Promise<void>
  close(): Promise<void>
}

const STEP_MS = 100
const PATIENCE_MS = 60_000

export async function openBrowser(executable: string): Promise<Browser> {
  const profile = await mkdtemp(join(tmpdir(), 'plinth-browser-'))
  const flags = [
    '--headless=new',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-dev-shm-usage',
    '--window-size=1400,900',
  ]
  const child = spawn(executable, [
    ...flags,
    '--remote-debugging-port=0',
    `--user-data-dir=${profile}`,
    'about:blank',
  ])
  const port = await new Promise<string>((resolve, reject) => {
    let err = ''
    child.stderr.on('data', (part: Buffer) => {
      err += part
      const found = /ws:\/\/127\.0\.0\.1:(\d+)\//.exec(err)?.[1]
      if (found) resolve(found)
    })
    child.once('exit', () => reject(new Error(`Chromium ended: ${err.slice(-500)}`)))
  })
  const pages = (await (await fetch(`http://127.0.0.1:${port}/json`)).json()) as {
    type: string
    webSocketDebuggerUrl: string
  }[]
  const page = pages.find(({ type }) => type === 'page')
  if (!page) throw new Error('Chromium has no page')
  const socket = new WebSocket(page.webSocketDebuggerUrl)
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve)
    socket.addEventListener('error', reject)
  })
  let id = 0
  const waiting = new Map<number, (result: Result) => void>()
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as { id?: number; result?: Result }
    if (message.id !== undefined) waiting.get(message.id)?.(message.result ?? {})
  })
  const send = (method: string, params: object = {}) =>
    new Promise<Result>((resolve) => {
      waiting.set(++id, resolve)
      socket.send(JSON.stringify({ id, method, params }))
    })
  const evaluate = async <T>(expression: string): Promise<T> => {
    const { result, exceptionDetails } = await send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    })
    if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails).slice(0, 500))
    return result?.value as T
  }
  return {
    evaluate,
    open: async (url) => void (await send('Page.navigate', { url })),
    until: async (expression) => {
      for (let waited = 0; !(await evaluate<boolean>(expression)); waited += STEP_MS) {
        if (waited > PATIENCE_MS) throw new Error(`It did not become true: ${expression}`)
        await sleep(STEP_MS)
      }
    },
    close: async () => {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      socket.close()
      child.kill('SIGKILL')
      await ended
      await rm(profile, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

type Result = { result?: { value?: unknown }; exceptionDetails?: object }
