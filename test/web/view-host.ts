/** A host of views in a browser: the bridge of the package that hosts use, around an iframe without an origin. */
import { join } from 'node:path'
import type { Browser, Frame, Page } from 'playwright-core'
import { rolldown } from 'rolldown'
import type { Body } from '../support/server.ts'

/** What a host does with the calls of a view, and what it lets through. */
type Server = (name: string, args: Body) => Promise<Body>
export type HostedView = {
  page: Page
  view: Frame
  /** What the view did: calls of tools, and what it told the model or asked the host to open. */
  said: { method: string; params: Body }[]
  /** Failures of scripts and of the policy, and requests: a view makes none. */
  faults: string[]
  close(): Promise<void>
}
type Shown = { html: string; args: Body; result: Body; width?: number; theme?: 'light' | 'dark' }

/** The policy for pages that declare no domains, by the specification. */
const POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'none'"

const HOST = `
import { AppBridge, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge'
window.show = async ({ html, args, result, theme }) => {
  const frame = document.querySelector('iframe')
  const info = { name: 'host', version: '1.0.0' }
  const can = { openLinks: {}, serverTools: {}, updateModelContext: { text: {} } }
  const bridge = new AppBridge(null, info, can, { hostContext: { theme, displayMode: 'inline' } })
  const told = (method) => async (params) => { await window.told(method, params); return {} }
  bridge.oncalltool = ({ name, arguments: given }) => window.call(name, given ?? {})
  bridge.onopenlink = told('ui/open-link')
  bridge.onupdatemodelcontext = told('ui/update-model-context')
  bridge.onsizechange = ({ height }) => { window.height = height }
  bridge.oninitialized = async () => {
    await bridge.sendToolInput({ arguments: args })
    await bridge.sendToolResult(result)
  }
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow))
  const loaded = new Promise((done) => frame.addEventListener('load', done, { once: true }))
  frame.srcdoc = html
  await loaded
}
`

let bundled: Promise<string> | undefined
async function hostScript(): Promise<string> {
  const entry = join(process.cwd(), 'test/web/view-host-page.js')
  const made = await rolldown({
    input: entry,
    platform: 'browser',
    logLevel: 'silent',
    plugins: [
      {
        name: 'host',
        resolveId: (id) => (id === entry ? id : undefined),
        load: (id) => (id === entry ? HOST : undefined),
      },
    ],
  })
  const { output } = await made.generate({ format: 'esm', codeSplitting: false })
  return output[0].code
}

/** Shows the result of a call in its view, as a host does. */
export async function showView(browser: Browser, shown: Shown, server: Server): Promise<HostedView> {
  bundled ??= hostScript()
  const { width = 400, theme = 'light' } = shown
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: theme })
  const page = await context.newPage()
  const said: HostedView['said'] = []
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
  page.on('request', (request) => request.url().startsWith('http') && faults.push(request.url()))
  await page.exposeFunction('told', (method: string, params: Body) => void said.push({ method, params }))
  await page.exposeFunction('call', async (name: string, args: Body) => {
    said.push({ method: name, params: args })
    return server(name, args)
  })
  // As high from the start: a frame that grows between the press and the release of a button takes the click away.
  const style = 'iframe { border: 0; width: 100%; height: 2000px } body { margin: 0 }'
  await page.setContent(`<style>${style}</style><iframe title="View" sandbox="allow-scripts"></iframe>`)
  await page.addScriptTag({ content: await bundled, type: 'module' })
  await page.waitForFunction(() => 'show' in window)
  const html = shown.html.replace(
    '<head>',
    `<head><meta http-equiv="Content-Security-Policy" content="${POLICY}">`,
  )
  await page.evaluate((given) => (window as unknown as { show(of: object): void }).show(given), {
    ...shown,
    html,
    theme,
  })
  const view = page.frames().find((frame) => frame !== page.mainFrame())
  if (!view) throw new Error('The host shows no frame')
  await view.waitForSelector('#view > :not(p.note)').catch(async (cause: unknown) => {
    const text = await view.textContent('#view', { timeout: 1000 }).catch(String)
    throw new Error(`The view shows no result. ${JSON.stringify({ text, said, faults })}`, { cause })
  })
  return { page, view, said, faults, close: () => context.close() }
}
