/** Cookies of a sign-in that is under way: none is one of a session. */
import type { FastifyReply, FastifyRequest } from 'fastify'

type Place = { name: string; path: string }

/** Brings the one-time code of the browser to the page where clients are allowed. */
export const CONSENT: Place = { name: 'plinth_signed_in', path: '/oauth/authorize' }

export const cookieIn = ({ headers }: FastifyRequest, name: string): string | undefined =>
  headers.cookie
    ?.split('; ')
    .find((each) => each.startsWith(`${name}=`))
    ?.slice(name.length + 1)

/** No script reads it, and no other site sends a form with it. */
export function setCookie(
  reply: FastifyReply,
  { name, path }: Place,
  value: string,
  seconds: number,
  isSecure: boolean,
): void {
  const attributes = `Path=${path}; Max-Age=${seconds}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
  // Those that are set before stay.
  reply.header('set-cookie', `${name}=${value}; ${attributes}`)
}
