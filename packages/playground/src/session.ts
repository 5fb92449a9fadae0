/** The token of the tab. It is kept until the tab is closed, and is only ever sent as a header to this server. */
import type { Send } from './send.ts'

const KEY = 'plinth.token'

export const keptToken = (): string | null => sessionStorage.getItem(KEY)
const forgetToken = (): void => sessionStorage.removeItem(KEY)

/** Sends requests to this server with the token, unless the user wrote another one. */
export const sender =
  (token: string): Send =>
  (path, init = {}) => {
    const headers = new Headers(init.headers)
    if (!headers.has('authorization')) headers.set('authorization', `Bearer ${token}`)
    return fetch(path, { ...init, headers, redirect: 'error' })
  }

/** The one-time code in a fragment, which browsers send to no server. */
export const codeIn = (fragment: string): string | undefined => /^#code=([\w-]+)$/.exec(fragment)?.[1]

/**
 * Exchanges the code of the address for a token. Removes it from the address and the history first.
 * @throws Error with the message of the server
 */
export async function tokenOf(code: string): Promise<string> {
  history.replaceState(null, '', location.pathname)
  const answer = await fetch('/playground/sign-in', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
    redirect: 'error',
  })
  if (!answer.ok) throw new Error(await messageOf(answer))
  return ((await answer.json()) as { token: string }).token
}

/**
 * Keeps a token that the server accepts. Returns its name.
 * @throws Error with the message of the server
 */
export async function signIn(token: string): Promise<string> {
  const answer = await sender(token)('/v1/tokens/self')
  if (!answer.ok) {
    forgetToken()
    throw new Error(await messageOf(answer))
  }
  sessionStorage.setItem(KEY, token)
  return ((await answer.json()) as { name: string }).name
}

/** Forgets the token. The server revokes it if `plinth open` has made it for this tab. */
export async function signOut(token: string): Promise<void> {
  forgetToken()
  // Without an answer, the token ends by itself.
  await sender(token)('/playground/sign-out', { method: 'POST' }).catch(() => undefined)
}

async function messageOf(answer: Response): Promise<string> {
  const body = (await answer.json().catch(() => null)) as { error?: { message?: string } } | null
  return body?.error?.message ?? `The server answered ${answer.status}.`
}
