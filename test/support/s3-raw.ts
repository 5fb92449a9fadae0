/** Requests to the S3 gateway as they are, signed or not, which no SDK sends. */
import { createHash, createHmac } from 'node:crypto'
import { request } from 'node:http'
import { SignatureV4 } from '@smithy/signature-v4'
import { sha256 } from './files.ts'
import type { Keys } from './s3.ts'

export type Sent = {
  method?: string
  path: string
  query?: Record<string, string>
  headers?: Record<string, string>
  body?: string | Buffer
}
type RawAnswer = { status: number; text: string; code: string | undefined }

/** Sends a request as it is, without tidying its path. */
export const rawTo =
  (server: { url: string }) =>
  ({ method = 'GET', path, headers = {}, body }: Sent): Promise<RawAnswer> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(server.url)
      const sent = request({ hostname, port, method, path, headers }, (response) => {
        let text = ''
        response.on('data', (chunk) => {
          text += String(chunk)
        })
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, text, code: /<Code>(\w+)</.exec(text)?.[1] }),
        )
      })
      sent.on('error', reject)
      sent.end(body)
    })

export class Sha256 {
  #hash = createHash('sha256')
  readonly #secret: string | Uint8Array | undefined
  constructor(secret?: string | Uint8Array) {
    this.#secret = secret
    this.reset()
  }
  reset() {
    // biome-ignore lint/suspicious/noExplicitAny: the two share what is used.
    this.#hash = (this.#secret === undefined ? createHash('sha256') : hmacOf(this.#secret)) as any
  }
  update(data: string | Uint8Array) {
    this.#hash.update(data)
  }
  async digest() {
    return new Uint8Array(this.#hash.digest())
  }
}
export const hmacOf = (secret: string | Uint8Array) => createHmac('sha256', secret)

export const signerOf = ({ access_key_id, secret_access_key, session_token }: Keys) =>
  new SignatureV4({
    credentials: {
      accessKeyId: access_key_id,
      secretAccessKey: secret_access_key,
      sessionToken: session_token,
    },
    region: 'us-east-1',
    service: 's3',
    sha256: Sha256 as never,
    uriEscapePath: false,
    applyChecksum: true,
  })

/** A signed request. `payload` is what the signature says of the body. */
export const signedWith =
  (server: { url: string }, keys: Keys) =>
  async (
    { method = 'GET', path, query = {}, headers = {}, body }: Sent,
    { payload = sha256(body ?? ''), at = new Date() } = {},
  ) => {
    const host = new URL(server.url).host
    const all = { host, 'x-amz-content-sha256': payload, ...headers }
    const plain = { method, protocol: 'http:', hostname: host, path, headers: all, query }
    const done = await signerOf(keys).sign(plain, { signingDate: at })
    const search = Object.entries(query).map((pair) => pair.map(encodeURIComponent).join('='))
    const url = search.length === 0 ? path : `${path}?${search.join('&')}`
    return { method, path: url, headers: done.headers, ...(body !== undefined && { body }) }
  }
