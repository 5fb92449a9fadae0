/** The clients of the authorization server: those whose id is the address of their metadata, and those that registered themselves. */
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { Engine } from '../../engine/engine.ts'
import { nameIn } from '../../foundation/invisible-characters.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { buckets } from '../../http/rate-limit.ts'
import { refused } from './failures.ts'
import { isLoopback, isRedirect, isSame } from './redirects.ts'

export type Client = {
  id: string
  /** What it calls itself: text of somebody else. */
  name: string
  /** The host that vouches for it; null for one that registered itself. */
  host: string | null
  redirectUris: readonly string[]
}
const NAME_CHARS = 80
type Store = Pick<Engine, 'authorizations' | 'send'>

const Metadata = z.object({
  client_name: z.string().max(1000).optional(),
  redirect_uris: z
    .array(z.string().refine(isRedirect, 'must be https, http on this machine, or the scheme of an app'))
    .min(1)
    .max(LIMITS.redirectUris),
})
const Document = Metadata.extend({
  client_id: z.string(),
  token_endpoint_auth_method: z.literal('none').optional(),
  client_secret: z.undefined().optional(),
})

/** @param isLocal whether the server is one of this machine only, whose clients may be of it, too */
export function openClients({ authorizations, send }: Store, isLocal: boolean) {
  const known = new LRUCache<string, Promise<Client>>({ max: 200, ttl: LIMITS.clientMetadataMs })
  const budget = buckets(LIMITS.clientMetadataLoadsPerMinute, LIMITS.clientMetadataLoadsPerMinute)
  // One address must neither use up what all have, nor push the known clients out, nor be all that registered.
  const loads = buckets(LIMITS.clientMetadataLoadsOfAddressPerMinute, LIMITS.clientsOfAddressBurst)
  const registrations = buckets(LIMITS.registrationsOfAddressPerMinute, LIMITS.clientsOfAddressBurst)
  const isOver = (limit: typeof budget, key: string) => limit.take(key, performance.now()).left < 0

  const load = async (url: URL): Promise<Client> => {
    const { status, body, isCut, error } = await send({
      ...{ method: 'GET', url: url.href, headers: { accept: 'application/json' } },
      ...{ answerBytes: LIMITS.clientMetadataBytes, timeoutMs: LIMITS.clientMetadataTimeoutMs },
    })
    if (error) throw unknown(`Its metadata cannot be read: ${error.message}`)
    if (status !== 200) throw unknown(`The address of its metadata answers ${status}.`)
    if (isCut) throw unknown(`Its metadata has more than ${LIMITS.clientMetadataBytes} bytes.`)
    const read = Document.safeParse(jsonOf(body))
    if (!read.success) throw unknown(`Its metadata is not valid: ${faultsOf(read.error)}.`)
    if (read.data.client_id !== url.href) throw unknown('Its metadata is that of another client.')
    const { client_name: name, redirect_uris: redirectUris } = read.data
    return { id: url.href, name: nameIn(name ?? '', NAME_CHARS) || url.host, host: url.host, redirectUris }
  }
  const byAddress = (id: string, from: string): Promise<Client> => {
    const found = known.get(id)
    if (found) return found
    const url = addressOf(id, isLocal)
    if (isOver(loads, from) || isOver(budget, '')) throw unknown('Too many clients ask at once. Try again.')
    const loading = load(url)
    known.set(id, loading)
    // A fault is remembered for a while, so that nobody is asked all the time.
    loading.catch(() => known.set(id, loading, { ttl: LIMITS.issuerRetrySeconds * 1000 }))
    return loading
  }
  const registered = async (id: string): Promise<Client> => {
    const found = await authorizations.findClient(id)
    if (!found) throw unknown('It is not registered here.')
    return { ...found, host: null }
  }
  const isUrl = (id: string) => /^https?:/i.test(id)
  return {
    /**
     * @param from the address that asks
     * @throws invalid_client
     */
    find: async (id: string, from: string): Promise<Client> =>
      isUrl(id) ? byAddress(id, from) : registered(id),
    /** Asks nobody: what has an address need not be registered. @throws invalid_client */
    requireRegistered: async (id: string): Promise<void> => {
      if (!isUrl(id)) await registered(id)
    },
    /**
     * Undefined if there are too many clients.
     * @throws invalid_client_metadata, invalid_redirect_uri
     */
    register: async (body: unknown, from: string) => {
      const read = Metadata.safeParse(body)
      if (!read.success) {
        const isAddress = read.error.issues[0]?.path[0] === 'redirect_uris'
        throw refused(
          isAddress ? 'invalid_redirect_uri' : 'invalid_client_metadata',
          `The client is not valid: ${faultsOf(read.error)}.`,
        )
      }
      const { client_name: name, redirect_uris: redirectUris } = read.data
      if (isOver(registrations, from)) return undefined
      const shown = nameIn(name ?? '', NAME_CHARS) || 'A client without a name'
      return authorizations.registerClient({ name: shown, redirectUris })
    },
    /** @throws invalid_redirect_uri for an address that the client has not named */
    requireRedirect: ({ redirectUris }: Client, sent: string): void => {
      if (!redirectUris.some((each) => isSame(each, sent)))
        throw refused(
          'invalid_redirect_uri',
          'The client has not named the address that it wants the answer at.',
        )
    },
  }
}
export type Clients = ReturnType<typeof openClients>

/** The address that a client id is (draft-ietf-oauth-client-id-metadata-document, section 3). */
function addressOf(id: string, isLocal: boolean): URL {
  const url = URL.canParse(id) ? new URL(id) : undefined
  const isWhole = url?.href === id && url.pathname !== '/' && !/[#@\\]/.test(id)
  if (url && isWhole && (url.protocol === 'https:' || (isLocal && isLoopback(url)))) return url
  throw unknown('Its id must be an https address with a path, without a fragment, as browsers write it.')
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const faultsOf = ({ issues }: z.ZodError): string =>
  issues
    .slice(0, 3)
    .map(({ path, message }) => `${path.join('.') || 'the document'}: ${message}`)
    .join('; ')

const unknown = (why: string) => refused('invalid_client', `The client is not known. ${why}`, '/client_id')
