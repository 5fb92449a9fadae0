import type { JSONWebKeySet } from 'jose'
import { LIMITS } from '../foundation/limits.ts'

/**
 * Loads the keys of an issuer through its metadata. Requests only the issuer's own origin, follows no
 * redirects, and limits time and size (SSRF protection).
 * @throws an Error that describes the invalid response
 */
export async function discoverKeys(issuer: string): Promise<JSONWebKeySet> {
  const signal = AbortSignal.timeout(LIMITS.issuerTimeoutMs)
  const { origin } = new URL(issuer)
  const jwksUri = await findKeys(issuer, signal)
  if (!URL.canParse(jwksUri) || new URL(jwksUri).origin !== origin)
    throw new Error(`The keys of the issuer are not at ${origin}`)
  return (await fetchJson(jwksUri, signal)) as JSONWebKeySet
}

async function findKeys(issuer: string, signal: AbortSignal): Promise<string> {
  const faults: string[] = []
  for (const url of metadataOf(issuer)) {
    try {
      const { issuer: named, jwks_uri: found } = (await fetchJson(url, signal)) as Record<string, unknown>
      if (named !== issuer) faults.push(`${url} is the metadata of another issuer`)
      else if (typeof found !== 'string') faults.push(`${url} names no jwks_uri`)
      else return found
    } catch (error) {
      faults.push(error instanceof Error ? error.message : String(error))
      if (signal.aborted) break
    }
  }
  throw new Error(`The issuer's metadata cannot be read: ${faults.join('; ')}`)
}

/** Metadata URLs of an issuer: RFC 8414, section 3.1; OpenID Connect Discovery 1.0, section 4. */
function metadataOf(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  return [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ]
}

async function fetchJson(url: string, signal: AbortSignal): Promise<object> {
  const response = await fetch(url, { redirect: 'manual', signal, headers: { accept: 'application/json' } })
  if (response.status !== 200) {
    await response.body?.cancel()
    throw new Error(`${url} answers ${response.status}`)
  }
  const value: unknown = JSON.parse(await boundedText(response, url))
  if (typeof value !== 'object' || value === null) throw new Error(`${url} is not a JSON object`)
  return value
}

async function boundedText({ body }: Response, url: string): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength
    if (bytes > LIMITS.issuerAnswerBytes) throw new Error(`the response of ${url} is too large`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
