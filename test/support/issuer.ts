import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose'

type Key = { kid: string; alg: string; privateKey: CryptoKey; jwk: JWK }
type Handler = (request: IncomingMessage, response: ServerResponse) => boolean
type Signing = { key?: Key; header?: Record<string, unknown> }

export const AUDIENCE = 'https://data.example/mcp'

/** A fake OAuth authorization server on loopback: metadata, keys, and tokens with any claims. */
export type TestIssuer = Awaited<ReturnType<typeof openIssuer>>

export async function openIssuer({ path = '', metadata = '/.well-known/oauth-authorization-server' } = {}) {
  const asked: string[] = []
  const published: Key[] = []
  let intervene: Handler = () => false
  const http = createServer((request, response) => {
    asked.push(request.url ?? '')
    if (intervene(request, response)) return
    const answer = documents()[request.url ?? '']
    response.writeHead(answer ? 200 : 404, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answer ?? {}))
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const issuer = `${origin}${path}`
  const documents = (): Record<string, object> => ({
    [metadata]: { issuer, jwks_uri: `${origin}/keys` },
    '/keys': { keys: published.map(({ jwk }) => jwk) },
  })
  const newKey = async (alg = 'ES256', kid = `k${published.length + 1}`): Promise<Key> => {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
    return { kid, alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } }
  }
  published.push(await newKey())
  return {
    url: issuer,
    origin,
    /** Requested paths, in order. */
    asked,
    published,
    newKey,
    /** Intercepts requests: a handler that returns true has answered. */
    intervene: (handler: Handler) => {
      intervene = handler
    },
    /** Signs a token for the test audience, valid for an hour. `claims` override the defaults. */
    sign: async (claims: JWTPayload, { key = published.at(-1), header = {} }: Signing = {}) => {
      if (!key) throw new Error('the issuer has no key')
      const now = Math.floor(Date.now() / 1000)
      const all = { iss: issuer, aud: AUDIENCE, sub: 'alice', iat: now, exp: now + 3600, ...claims }
      const kept = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
      return new SignJWT(kept)
        .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: 'at+jwt', ...header })
        .sign(key.privateKey)
    },
    close: async () => {
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
    },
  }
}
