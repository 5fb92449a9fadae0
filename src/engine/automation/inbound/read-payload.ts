/** The payload of a delivery, and what its scheme says in it. */
import { isUtf8 } from 'node:buffer'
import { Busboy } from '@fastify/busboy'
import { hexDigest } from '../../../contract/canonical-hash.ts'
import type { Signature } from '../../../contract/inbound-webhook-shapes.ts'
import { type DomainError, invalid } from '../../../foundation/errors.ts'
import { isObject } from '../../../foundation/is-object.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { inSlices } from '../../../foundation/slices.ts'
import { checkJson, parseKeepingDigits, pointer } from '../../../json/parse.ts'

/** What a payload is kept as that it was not. A sender cannot be asked to change. */
export type PayloadWarning = { readonly path: string; readonly code: string; readonly message: string }
export type Payload = { readonly value: unknown; readonly warnings: readonly PayloadWarning[] }

/** @throws VALIDATION_ERROR unless the body is JSON or a form that can be stored */
export async function readPayload(
  body: Buffer,
  contentType: string | null,
  { scheme }: Signature,
): Promise<Payload> {
  const [, form] = /^(application\/x-www-form-urlencoded|multipart\/)/i.exec(contentType ?? '') ?? []
  if (form === undefined) return readJson(body)
  const fields = form.startsWith('a') ? urlencoded(body) : await multipart(body, contentType ?? '')
  const [only] = fields
  // GitHub and Slack also send JSON in a form.
  if ((scheme === 'github' || scheme === 'slack') && fields.length === 1 && only?.[0] === 'payload')
    return readJson(Buffer.from(only[1]))
  const repeated = fields.flatMap(([name], n) =>
    fields.findLastIndex(([own]) => own === name) > n ? [name] : [],
  )
  const value = Object.fromEntries(fields)
  if (fields.some(([name]) => name === '__proto__')) throw notForm('A form has no field __proto__.')
  checkJson(value)
  return {
    value,
    warnings: [...new Set(repeated)].slice(0, LIMITS.payloadWarnings).map((name) => ({
      path: pointer(name),
      code: 'repeated_field',
      message: 'The form has this field several times. The last one is kept.',
    })),
  }
}

async function readJson(body: Buffer): Promise<Payload> {
  const { value, kept } = await parseKeepingDigits(body, LIMITS.payloadWarnings)
  return {
    value,
    warnings: kept.map((path) => ({
      path,
      code: 'unsafe_number',
      message: 'JSON in JavaScript would change this number. It is kept as the string of its digits.',
    })),
  }
}

function urlencoded(body: Buffer): [string, string][] {
  if (!isUtf8(body)) throw notForm('The form is not valid UTF-8.')
  const pairs = body.toString().split('&', LIMITS.formFields + 1)
  if (pairs.length > LIMITS.formFields) throw tooManyFields()
  const read = (text: string): string => {
    try {
      return decodeURIComponent(text.replaceAll('+', ' '))
    } catch {
      throw notForm('The form has a percent-escape that is not UTF-8.')
    }
  }
  return pairs.filter(Boolean).map((pair) => {
    const [name = '', value = ''] = pair.split(/=(.*)/s)
    return [read(name), read(value)]
  })
}

/** The fields of multipart/form-data. A file has no place in a record. */
function multipart(body: Buffer, contentType: string): Promise<[string, string][]> {
  return new Promise((resolve, reject) => {
    const fields: [string, string][] = []
    const slices = inSlices([body])
    const fail = (error: DomainError): void => {
      slices.destroy()
      reject(error)
    }
    try {
      const form = new Busboy({
        headers: { 'content-type': contentType },
        limits: {
          fields: LIMITS.formFields,
          parts: LIMITS.formFields,
          fieldSize: body.length,
          fieldNameSize: 256,
          headerPairs: 20,
          headerSize: 16_384,
        },
      })
      form.on('file', (_name, content) => {
        content.on('error', () => {})
        content.resume()
        fail(notForm('The form has a file. Set the sender to send no files.'))
      })
      // The type says otherwise, but a part can have no name.
      form.on('field', (name: string | undefined, value, isNameCut) => {
        if (isNameCut) fail(notForm('The name of a field is longer than 256 bytes.'))
        else if (name === undefined) fail(notForm('The form has a part without a name.'))
        else fields.push([name, value])
      })
      form.on('fieldsLimit', () => fail(tooManyFields()))
      form.on('partsLimit', () => fail(tooManyFields()))
      form.on('error', () => fail(notForm('The form is not whole.')))
      form.on('finish', () => resolve(fields))
      slices.pipe(form)
    } catch {
      fail(notForm('The form has no boundary.'))
    }
  })
}

const notForm = (message: string): DomainError =>
  invalid({
    path: '',
    code: 'malformed_form',
    message: `${message} Or set the sender to send JSON, as application/json.`,
  })

const tooManyFields = (): DomainError =>
  invalid({
    path: '',
    code: 'too_many_fields',
    message: `A form has at most ${LIMITS.formFields} fields.`,
    expected: LIMITS.formFields,
  })

/** Members of a payload that are the id of its delivery, where the scheme has no header for it. */
const ID_IN_PAYLOAD: Partial<Record<Signature['scheme'], string>> = { stripe: 'id', slack: 'event_id' }

export function deliveryIdIn(payload: unknown, { scheme }: Signature): string | null {
  const name = ID_IN_PAYLOAD[scheme]
  const id = name !== undefined && isObject(payload) ? payload[name] : null
  return typeof id === 'string' ? id : null
}

/** The id of a delivery as it is kept: a long one as its SHA-256, since an index has no room for it; null for an empty one. */
export function keptId(id: string | null): string | null {
  if (id === null || id === '') return null
  return id.length > LIMITS.deliveryIdChars ? `sha256:${hexDigest(id)}` : id
}

/** The challenge by which Slack asks whether the address is right. It makes no record. */
export function challengeIn(payload: unknown, { scheme }: Signature): string | null {
  if (scheme !== 'slack' || !isObject(payload) || payload['type'] !== 'url_verification') return null
  const { challenge } = payload
  return typeof challenge === 'string' ? challenge : null
}
