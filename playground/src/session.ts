/** The token of the tab. It is kept until the tab is closed, and is only ever sent as a header to this server. */
import type { Send } from './send.ts'

const KEY = 'plinth.token'

export const keptToken = (): string | null => sessionStorage.getItem(KEY)
export const forgetToken = (): void => sessionStorage.removeItem(KEY)

/** Sends requests to this server with the token, unless the user wrote another one. */
export const sender =
  (token: string): Send =>
  (path, init = {}) => {
    const headers = new Headers(init.headers)
    if (!headers.has('authorization')) headers.set('authorization', `Bearer ${token}`)
    return fetch(path, { ...init, headers, redirect: 'error' })
  }

/**
 * Keeps a token that the server accepts.
 * @throws Error with the message of the server
 */
export async function signIn(token: string): Promise<void> {
  const answer = await sender(token)('/v1/tokens/self')
  if (!answer.ok) {
    forgetToken()
    throw new Error(await messageOf(answer))
  }
  sessionStorage.setItem(KEY, token)
}

async function messageOf(answer: Response): Promise<string> {
  const body = (await answer.json().catch(() => null)) as { error?: { message?: string } } | null
  return body?.error?.message ?? `The server answered ${answer.status}.`
}
