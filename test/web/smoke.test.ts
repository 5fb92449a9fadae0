/** The pages open: what all of them need, without the desk. The other tests of this folder take minutes. */
import { expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { CHROMIUM, openBrowser } from '../support/browser.ts'
import { openServer } from '../support/server.ts'

const TIME = 30_000

test.skipIf(!CHROMIUM)(
  'a record is found from the start, in Chromium if there is one',
  { timeout: TIME },
  async () => {
    const [server, browser] = await Promise.all([openServer(), openBrowser()])
    succeed(await server.call('PUT', '/v1/bases/crm', { name: 'Customers' }), 201)
    const json_schema = { type: 'object', properties: { name: { type: 'string' } } }
    succeed(await server.call('PUT', '/v1/crm/record-types/person', { name: 'Person', json_schema }), 201)
    succeed(await server.call('POST', '/v1/crm/records/person', { data: { name: 'Ada' } }), 201)
    const { code } = succeed(await server.call('POST', '/v1/tokens/self/sign-in-codes'), 201)
    const page = await browser.newPage()
    const faults: string[] = []
    page.on('pageerror', ({ message }) => faults.push(message))
    await page.goto(`${server.url}/#code=${code}`)
    await page.getByRole('heading', { name: 'What happened' }).waitFor()
    await page.getByRole('main').getByRole('link', { name: 'Ada' }).waitFor()
    await page.getByRole('link', { name: /^Persons/ }).click()
    await page.getByRole('gridcell', { name: 'Ada' }).click()
    await page.getByRole('heading', { name: 'Ada' }).waitFor()
    await page.getByRole('link', { name: 'Review' }).click()
    await page.getByText('Nothing waits for you.').waitFor()
    await page.getByRole('link', { name: 'Agents' }).click()
    await page.getByRole('heading', { name: 'Who works here' }).waitFor()
    expect(faults).toEqual([])
    await browser.close()
    await server.close()
  },
)
