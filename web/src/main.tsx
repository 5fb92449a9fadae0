import { QueryClientProvider } from '@tanstack/react-query'
import { createRoot } from 'react-dom/client'
import { queryClient } from './api/cache.ts'
import { open } from './api/session.ts'
import { App } from './app.tsx'
import './style/tokens.css'
import './style/base.css'
import './style/changes.css'
import './style/parts.css'

const RELOADED = 'plinth.reloaded'
const AGAIN_MS = 60_000
const root = document.getElementById('root')
if (root) {
  void open()
  // The address with a code can also be entered in a tab that is open.
  addEventListener('hashchange', () => location.hash.startsWith('#code=') && void open())
  // After an upgrade of the server, the files of pages that are open are gone: such a page is loaded again, once.
  addEventListener('vite:preloadError', (event) => {
    const last = Number(sessionStorage.getItem(RELOADED))
    if (Date.now() - last < AGAIN_MS) return
    sessionStorage.setItem(RELOADED, String(Date.now()))
    event.preventDefault()
    location.reload()
  })
  createRoot(root).render(
    <QueryClientProvider client={queryClient}>
      <App />
    </QueryClientProvider>,
  )
}
