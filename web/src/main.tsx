import { QueryClientProvider } from '@tanstack/react-query'
import { createRoot } from 'react-dom/client'
import { back, queryClient } from './api/cache.ts'
import { open } from './api/session.ts'
import { App } from './app.tsx'
import './style/tokens.css'
import './style/base.css'
import './style/changes.css'
import './style/parts.css'

const RELOADED = 'plinth.reloaded'
const AGAIN_MS = 60_000

/**
 * After an upgrade of the server, the files of pages that are open are gone: such a page is loaded again, once. While the server is
 * away, the browser's own page would take the place of this one: a page that failed for that is loaded when it answers. And not where a
 * person has typed what the address has not.
 */
async function loadAgain(): Promise<void> {
  const typed = [...document.querySelectorAll('[data-typed]:not([type=search])')]
  if (typed.some((each) => each.checkVisibility())) return
  const answer = await fetch('/healthz').catch(() => undefined)
  if (!answer?.ok) {
    await back()
    if (!document.querySelector('main.failed')) return
  } else if (Date.now() - Number(sessionStorage.getItem(RELOADED)) < AGAIN_MS) return
  sessionStorage.setItem(RELOADED, String(Date.now()))
  location.reload()
}

const root = document.getElementById('root')
if (root) {
  void open()
  // The address with a code can also be entered in a tab that is open.
  addEventListener('hashchange', () => location.hash.startsWith('#code=') && void open())
  addEventListener(
    'input',
    ({ target }) => target instanceof Element && target.setAttribute('data-typed', ''),
  )
  addEventListener('vite:preloadError', () => void loadAgain())
  createRoot(root).render(
    <QueryClientProvider client={queryClient}>
      <App />
    </QueryClientProvider>,
  )
}
