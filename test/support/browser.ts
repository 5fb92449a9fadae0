/** The Chromium of the machine, headless. */
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** Where Chromium is; undefined where there is none. */
export const CHROMIUM = [process.env['PLINTH_CHROMIUM'] ?? '', ...PLACES].find((path) => existsSync(path))

export async function openBrowser(): Promise<Browser> {
  if (!CHROMIUM) throw new Error('This machine has no Chromium')
  const args = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage']
  return chromium.launch({ executablePath: CHROMIUM, args })
}
