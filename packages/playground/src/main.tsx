import './workers.ts'
import 'graphiql/style.css'
import '@graphiql/plugin-explorer/style.css'
import './style.css'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'

const root = document.getElementById('root')
if (root) createRoot(root).render(<App />)
