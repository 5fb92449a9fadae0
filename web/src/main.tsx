import { QueryClientProvider } from '@tanstack/react-query'
import { createRoot } from 'react-dom/client'
import { queryClient } from './api/queries.ts'
import { open } from './api/session.ts'
import { App } from './app.tsx'
import './style/tokens.css'
import './style/base.css'
import './style/parts.css'

const root = document.getElementById('root')
if (root) {
  void open()
  // The address with a code can also be entered in a tab that is open.
  addEventListener('hashchange', () => location.hash.startsWith('#code=') && void open())
  createRoot(root).render(
    <QueryClientProvider client={queryClient}>
      <App />
    </QueryClientProvider>,
  )
}
