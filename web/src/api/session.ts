/** Who is signed in. The token is that of the tab: it is kept until the tab is closed, and only ever sent as a header. */
import { words } from '../words.ts'
import { back, queryClient } from './cache.ts'
import { setClock, timeNow } from './clock.ts'
import { Failure, failureOf, isAway } from './failure.ts'
import type { Token } from './shapes.ts'
import { storeOf } from './store.ts'

/** The playground keeps its token under the same name, so both pages share one sign-in. */
const KEY = 'plinth.token'

export type { Grant } from './shapes.ts'
export type Kind = Token['kind']
type Self = Pick<Token, 'id' | 'name' | 'grants'> & { kind?: Kind; expires_at?: string | null | undefined }

type Session =
  | { state: 'opening' }
  | { state: 'out'; message?: string }
  | { state: 'in' | 'ended'; token: string; self: Self; message?: string }

const store = storeOf<Session>({ state: 'opening' })
const become = store.set
export const useSession = store.use
/** Other tabs of this server. A new tab asks them for the sign-in, and a sign-out ends all. */
const tabs = new BroadcastChannel('plinth')

export function token(): string | undefined {
  const session = store.get()
  return 'token' in session ? session.token : undefined
}

/** The token ended while the page was open: the page stays, and asks again. */
export function ended(sent: string | undefined, message: string): void {
  const session = store.get()
  if (session.state === 'in' && session.token === sent) become({ ...session, state: 'ended', message })
}

/** Signs in by the code of the address, the token of the tab, or that of another tab. */
export async function open(): Promise<void> {
  const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1]
  if (code !== undefined) {
    history.replaceState(null, '', location.pathname + location.search)
    return enter(() => exchange(code))
  }
  const kept = sessionStorage.getItem(KEY)
  if (kept !== null) return enter(async () => kept, open)
  // The sign-in is shown soon; a tab that answers later still spares it.
  const soon = setTimeout(() => become({ state: 'out' }), SOON_MS)
  const answer = await ofAnotherTab()
  clearTimeout(soon)
  if (answer !== undefined && token() === undefined) return enter(async () => answer)
}

/** A pasted token is exchanged at once, so that the long-lived one is never kept. */
export const signIn = (pasted: string): Promise<void> =>
  enter(async () => {
    const answer = await fetch('/v1/tokens/self/sign-in-codes', { method: 'POST', headers: bearer(pasted) })
    // The token of a tab makes no codes, and is used as it is.
    if (answer.status === 403) return pasted
    if (!answer.ok) throw await failureOf(answer)
    const { code } = (await answer.json()) as { code: string }
    return exchange(code)
  })

/** Whether the server has an identity provider to sign in at. */
export async function signsInElsewhere(): Promise<boolean> {
  const answer = await fetch('/', { headers: { accept: 'application/json' } }).catch(() => undefined)
  return answer?.ok === true && ((await answer.json()) as { sign_in?: string }).sign_in !== undefined
}

/** A sign-in at an identity provider is short: it is renewed while the tab is open, as long as the person may be here. */
function renewInTime(held: string, { expires_at: end }: Pick<Self, 'expires_at'>): void {
  const leftMs = Date.parse(end ?? '') - timeNow()
  if (!(leftMs < SHORT_MS)) return
  setTimeout(
    () => {
      if (token() !== held) return
      void fetch('/sign-in/renew', { method: 'POST', headers: bearer(held) })
        .then(() => fetch('/v1/tokens/self', { headers: bearer(held) }))
        .then(async (answer) => answer.ok && renewInTime(held, (await answer.json()) as Self))
        .catch(() => renewInTime(held, { expires_at: end }))
    },
    Math.max(leftMs / 2, RENEW_MS),
  )
}

/** Ends the token of the tab, in all tabs. */
export async function signOut(): Promise<void> {
  const leaving = token()
  forget()
  tabs.postMessage({ left: true })
  if (leaving === undefined) return
  // The token ends by itself if this request is lost.
  await fetch('/playground/sign-out', { method: 'POST', headers: bearer(leaving) }).catch(() => undefined)
}

const bearer = (of: string) => ({ authorization: `Bearer ${of}` })

/** `retry`: what is done again when a server answers that is away. */
async function enter(find: () => Promise<string>, retry?: () => Promise<void>): Promise<void> {
  try {
    const found = await find()
    const answer = await fetch('/v1/tokens/self', { headers: bearer(found) })
    if (!answer.ok) throw await failureOf(answer)
    sessionStorage.setItem(KEY, found)
    setClock(answer)
    const read = (await answer.json()) as Self
    // The token of a tab acts for the one that opened it.
    const self = { ...read, name: read.name.replace(/ \(browser\)$/, '') }
    const before = store.get()
    // What was read for somebody else is not shown to the next one.
    if (!('self' in before) || identityOf(before.self) !== identityOf(self)) queryClient.clear()
    become({ state: 'in', token: found, self })
    renewInTime(found, self)
    void queryClient.invalidateQueries()
  } catch (error) {
    // A server that is away says nothing against the token.
    if (error instanceof Failure && error.status === 401) sessionStorage.removeItem(KEY)
    const message = error instanceof Failure ? error.message : words.failures.offline
    const session = store.get()
    become('token' in session ? { ...session, state: 'ended', message } : { state: 'out', message })
    if (!retry || (error instanceof Failure && !isAway(error))) return
    await back()
    if (store.get().state === 'out') await retry()
  }
}

/** Who sees what: the same after another sign-in of the same person. */
export const identityOf = ({ name, grants }: Self): string => JSON.stringify([name, grants])

async function exchange(code: string): Promise<string> {
  const answer = await fetch('/playground/sign-in', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
    redirect: 'error',
  })
  if (!answer.ok) throw await failureOf(answer)
  return ((await answer.json()) as { token: string }).token
}

function forget(): void {
  sessionStorage.removeItem(KEY)
  become({ state: 'out' })
}

const SOON_MS = 150
/** A sign-in that ends within this time can be renewed; and how often that is tried. */
const SHORT_MS = 10 * 60_000 + 1000
const RENEW_MS = 30_000
/** Other tabs answer within this time, or there are none. */
const ANSWER_MS = 2000

function ofAnotherTab(): Promise<string | undefined> {
  return new Promise((resolve) => {
    const hear = ({ data }: MessageEvent<{ token?: string }>) => {
      if (data.token !== undefined) resolve(data.token)
    }
    tabs.addEventListener('message', hear)
    tabs.postMessage({ asks: true })
    setTimeout(() => {
      tabs.removeEventListener('message', hear)
      resolve(undefined)
    }, ANSWER_MS)
  })
}

tabs.addEventListener('message', ({ data }: MessageEvent<{ asks?: true; left?: true }>) => {
  if (data.left) forget()
  const session = store.get()
  if (data.asks && session.state === 'in') tabs.postMessage({ token: session.token })
})
