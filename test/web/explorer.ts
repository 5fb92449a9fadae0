/** The desk in a browser: a server, its data, its receiver and one Chromium, for all tests of a file. */
import { AxeBuilder } from '@axe-core/playwright'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { CHROMIUM, openBrowser } from '../support/browser.ts'
import { openReceiver, type Receiver } from '../support/receiver.ts'
import { type Call, openServer, type TestServer } from '../support/server.ts'
import { answerAsReceiver, type Desk, makeDesk } from './desk.ts'
import type { Author } from './desk-authors.ts'

export type Explorer = {
  server: TestServer
  receiver: Receiver
  desk: Desk
  browser: Browser
  /** Sends requests as an author. */
  as(author: Author): Call
  /** Opens a page below `/b/desk` as `plinth open` does, signed in as an author. */
  open(author: Author, path?: string, options?: BrowserContextOptions): Promise<Opened>
  /** The same with any token. */
  openWith(token: string, address: string, options?: BrowserContextOptions): Promise<Opened>
  close(): Promise<void>
}
/** `faults` has what must not happen in any page: failures of scripts, of the policy, and requests to other hosts. */
type Opened = { page: Page; faults: string[]; close(): Promise<void> }

/** What a test in a browser may take. */
export const TIME = 180_000

/** The pages beside those that the ten questions need. */
export const OTHER_PAGES = {
  automation: '/automation',
  'a trigger': '/automation/trigger/vip',
  'an inbound webhook': '/automation/inbound_webhook/mail_in',
  files: '/files',
  'a folder': '/files/doc?in=policies/',
  'a file': '/files/doc?in=policies/&file=policies/refunds.md',
  'found files': '/files/doc?q=refund',
  environments: '/env',
  operate: '/operate',
  ask: '/ask',
  'an answer': '/ask?sql=SELECT+stage,count(*)+FROM+ticket+GROUP+BY+1',
  'a preview': '/env/desk--csat',
  types: '/types',
  'a type': '/types/ticket',
}

/** A test that needs Chromium, and says so where there is none. */
export const inBrowser = (name: string, run: () => Promise<void>) =>
  test.skipIf(!CHROMIUM)(`${name}, in Chromium if there is one`, { timeout: TIME }, run)

const LARGE = { viewport: { width: 1440, height: 900 } }

export async function openExplorer(): Promise<Explorer> {
  const receiver = await openReceiver()
  answerAsReceiver(receiver)
  const server = await openServer({ PLINTH_ALLOW_PRIVATE_TARGETS: '127.0.0.1' })
  const [desk, browser] = await Promise.all([makeDesk(server, receiver.url), openBrowser()])
  const openWith: Explorer['openWith'] = async (token, address, options = {}) => {
    const { code } = succeed(await server.as(token)('POST', '/v1/tokens/self/sign-in-codes'), 201)
    const context = await browser.newContext({ ...LARGE, reducedMotion: 'reduce', ...options })
    const page = await context.newPage()
    const faults = watch(page, server.url)
    await page.goto(`${server.url}${address}#code=${code}`)
    await page.waitForFunction(() => sessionStorage.getItem('plinth.token') !== null)
    return { page, faults, close: () => context.close() }
  }
  const tokenOf = (author: Author) => desk.tokens[author].token
  return {
    ...{ server, receiver, desk, browser, openWith },
    as: (author) => server.as(tokenOf(author)),
    open: (author, path = '', options) => openWith(tokenOf(author), `/b/${desk.base}${path}`, options),
    close: async () => {
      await browser.close()
      await server.close()
      await receiver.close()
    },
  }
}

/** A response that is no success is logged by the browser as well; the pages show those, and tests ask for them. */
const ANSWERED = /^Failed to load resource: the server responded with a status of \d+/

function watch(page: Page, url: string): string[] {
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`))
  page.on('console', (message) => {
    if (message.type() === 'error' && !ANSWERED.test(message.text()))
      faults.push(`console: ${message.text()}`)
  })
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url())
    // The viewer of PDFs is a part of the browser, with files of its own.
    if (origin !== url && /^(https?|wss?):$/.test(protocol)) faults.push(`request: ${request.url()}`)
  })
  return faults
}

/** Waits until the page has read what it shows. */
export async function settled(page: Page): Promise<void> {
  await page.getByRole('navigation').first().waitFor()
  await expect.poll(() => page.locator('[aria-busy=true]').count(), { timeout: PATIENCE_MS }).toBe(0)
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 50))))
}

const STANDARDS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

/**
 * What keeps people from reading or using a page, as `rule: elements`. Details of what is right, and a page of its
 * own for the result, would take as long again.
 */
export async function barriersOf(page: Page, more: readonly string[] = []): Promise<string[]> {
  const values = [...STANDARDS, ...more]
  const { violations } = await new AxeBuilder({ page })
    .setLegacyMode()
    .options({ runOnly: { type: 'tag', values }, resultTypes: ['violations'] })
    .analyze()
  const found = violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target }) => `${id}: ${target.join(' ').replaceAll(/:nth-child\(\d+\)/g, '')}`),
  )
  return [...new Set(found)]
}

/** A visitor who knows words only, and whose clicks are counted. */
export class Visitor {
  clicks = 0
  readonly page: Page
  constructor(page: Page) {
    this.page = page
  }

  /** Clicks what has this role and name. */
  async click(role: Role, name: string | RegExp, within: Within = this.page): Promise<void> {
    this.clicks++
    await within.getByRole(role, { name }).first().click()
  }

  /** Waits until the words are in sight. */
  async sees(words: string | RegExp, within: Within = this.page): Promise<void> {
    await expect
      .poll(() => within.getByText(words).filter({ visible: true }).count(), {
        message: `in sight: ${words}`,
        timeout: PATIENCE_MS,
      })
      .toBeGreaterThan(0)
  }
}

/** For a machine that runs other tests beside. */
const PATIENCE_MS = 30_000
type Role = Parameters<Page['getByRole']>[0]
type Within = Pick<Page, 'getByRole' | 'getByText'>
