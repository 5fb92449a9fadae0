import { explorerPlugin } from '@graphiql/plugin-explorer'
import { GraphiQL, HISTORY_PLUGIN } from 'graphiql'
import { type FormEvent, useEffect, useState } from 'react'
import { fetcherOf } from './fetcher.ts'
import { codeIn, keptToken, sender, signIn, signOut, tokenOf } from './session.ts'
import { starters } from './starters.ts'
import { storageOf } from './storage.ts'

const ADDRESS = location.pathname
const [, , BASE = ''] = ADDRESS.split('/')
const STORAGE = storageOf(ADDRESS)
const PLUGINS = [HISTORY_PLUGIN, explorerPlugin()]

type State =
  | { kind: 'out'; message: string; typed?: string }
  | { kind: 'opening' }
  | { kind: 'in'; token: string; name: string; tabs: string[] }

/** Signs in, and makes the first tabs of an address that has none. */
async function enter(
  find: () => Promise<string>,
  setState: (state: State) => void,
  typed = '',
): Promise<void> {
  setState({ kind: 'opening' })
  try {
    const token = await find()
    const name = await signIn(token)
    const isFirst = STORAGE.getItem('graphiql:tabState') === null
    setState({ kind: 'in', token, name, tabs: isFirst ? await starters(ADDRESS, BASE, sender(token)) : [] })
  } catch (error) {
    setState({ kind: 'out', message: (error as Error).message, typed })
  }
}

export function App() {
  const [state, setState] = useState<State>({ kind: 'opening' })
  useEffect(() => {
    const open = () => {
      const code = codeIn(location.hash)
      const token = keptToken()
      if (code !== undefined) void enter(() => tokenOf(code), setState)
      else if (token !== null) void enter(async () => token, setState)
      else setState({ kind: 'out', message: '' })
    }
    // The address with a code can also be entered in a tab that is open.
    const change = () => {
      if (codeIn(location.hash) !== undefined) open()
    }
    open()
    addEventListener('hashchange', change)
    return () => removeEventListener('hashchange', change)
  }, [])
  const leave = (token: string) => {
    void signOut(token)
    setState({ kind: 'out', message: '' })
  }
  return (
    <>
      <header id="plinth-bar">
        <a href="/">Plinth</a>
        {state.kind === 'in' && <Bases token={state.token} />}
        <span className="plinth-space" />
        {state.kind === 'in' && <span className="plinth-name">{state.name}</span>}
        {state.kind === 'in' && (
          <button type="button" onClick={() => leave(state.token)}>
            Sign out
          </button>
        )}
      </header>
      {state.kind === 'out' && (
        <SignIn
          message={state.message}
          typed={state.typed ?? ''}
          onToken={(token) => void enter(async () => token, setState, token)}
        />
      )}
      {state.kind === 'in' && <Editor token={state.token} tabs={state.tabs} />}
    </>
  )
}

function Editor({ token, tabs }: { token: string; tabs: string[] }) {
  const [fetcher] = useState(() => fetcherOf(ADDRESS, sender(token)))
  return (
    <GraphiQL
      fetcher={fetcher}
      plugins={PLUGINS}
      storage={STORAGE}
      {...(tabs.length > 0 && { defaultTabs: tabs.map((query) => ({ query })) })}
      showPersistHeadersSettings={false}
    >
      <GraphiQL.Logo>{BASE || 'All bases'}</GraphiQL.Logo>
    </GraphiQL>
  )
}

type SignInProps = { message: string; typed: string; onToken: (token: string) => void }

function SignIn({ message, typed, onToken }: SignInProps) {
  const [token, setToken] = useState(typed)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onToken(token.trim())
  }
  return (
    <main id="plinth-sign-in">
      <form onSubmit={submit}>
        <h1>GraphQL playground</h1>
        <p>
          {BASE === '' ? 'All bases' : `Base ${BASE}`} at {location.host}
        </p>
        <label htmlFor="token">API token</label>
        <input
          id="token"
          type="password"
          autoComplete="off"
          placeholder="plt_…"
          required
          value={token}
          onChange={({ target }) => setToken(target.value)}
        />
        <button type="submit">Sign in</button>
        <p role="status">{message}</p>
        <p>
          The tab forgets the token when you close it. <code>plinth open</code> opens this page signed in. The
          admin token is in <code>admin-token</code> in the data directory of the server,{' '}
          <code>plinth token create</code> makes narrower ones.
        </p>
      </form>
    </main>
  )
}

/** Switches between the bases that the token may use. */
function Bases({ token }: { token: string }) {
  const [ids, setIds] = useState<readonly string[]>(BASE === '' ? [] : [BASE])
  useEffect(() => {
    const load = async () => {
      const answer = await sender(token)('/v1/bases?limit=1000')
      if (!answer.ok) return
      const { data } = (await answer.json()) as { data: { id: string }[] }
      setIds([...new Set([...data.map(({ id }) => id), ...(BASE === '' ? [] : [BASE])])].sort())
    }
    void load()
  }, [token])
  return (
    <label>
      Base{' '}
      <select
        value={BASE}
        onChange={({ target }) =>
          location.assign(target.value === '' ? '/graphql' : `/graphql/${target.value}`)
        }
      >
        <option value="">all bases</option>
        {ids.map((id) => (
          <option key={id}>{id}</option>
        ))}
      </select>
    </label>
  )
}
