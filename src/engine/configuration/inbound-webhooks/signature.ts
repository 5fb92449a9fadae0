/** The signature settings of an inbound webhook. */
import type { SIGNATURE_SCHEMES, Signature } from '../../../contract/inbound-webhook-shapes.ts'
import type { Detail } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import type { Scope } from '../../core/scope.ts'
import { openSecret } from '../lifecycle/secrets.ts'

type Settings = { readonly signature: Signature; readonly secret: string | null }

const SIGNS_TIME: Readonly<Record<(typeof SIGNATURE_SCHEMES)[number], boolean>> = {
  standard: true,
  github: false,
  stripe: true,
  slack: true,
  hmac: false,
  token: false,
}
const OF_HMAC = ['algorithm', 'encoding', 'prefix', 'timestamp_header', 'signed'] as const
/** The scheme that a member belongs to beside `hmac`. */
const ALSO_OF: Readonly<Record<string, string>> = { prefix: 'token' }

const signsTime = ({ scheme, timestamp_header }: Signature): boolean =>
  SIGNS_TIME[scheme] || timestamp_header !== undefined

/** The settings with what holds by default. */
export const completeSignature = (signature: Signature): Signature => ({
  ...signature,
  ...(signature.scheme === 'hmac' && {
    algorithm: signature.algorithm ?? 'sha256',
    encoding: signature.encoding ?? 'hex',
  }),
  ...(signsTime(signature) && {
    tolerance_seconds: signature.tolerance_seconds ?? LIMITS.inboundToleranceSeconds,
  }),
})

const BASE64 = /^(?:whsec_)?[A-Za-z0-9+/]{22,}={0,2}$/

export function signatureFaults(
  scope: Pick<Scope, 'vault'>,
  of: { readonly baseId: string; readonly id: string },
  { signature, secret }: Settings,
  before: Settings | null,
): Detail[] {
  const { scheme } = signature
  const foreign =
    scheme === 'hmac'
      ? []
      : OF_HMAC.filter((name) => signature[name] !== undefined && ALSO_OF[name] !== scheme)
  const faults: Detail[] = foreign.map((name) => ({
    path: `/signature/${name}`,
    code: 'not_of_scheme',
    message: `${name} belongs to the scheme "hmac". Leave it out, or use that scheme.`,
  }))
  if (scheme === 'hmac' && signature.header === undefined)
    faults.push({
      path: '/signature/header',
      code: 'required',
      message: 'header is required with the scheme "hmac": the header with the signature.',
    })
  if (scheme === 'token' && signature.prefix !== undefined && signature.header === undefined)
    faults.push({
      path: '/signature/prefix',
      code: 'not_of_scheme',
      message:
        'prefix needs a header beside it. Without one, the secret is the password of basic authentication.',
    })
  faults.push(...templateFaults(signature))
  if (signature.tolerance_seconds !== undefined && !signsTime(signature))
    faults.push({
      path: '/signature/tolerance_seconds',
      code: 'not_of_scheme',
      message: `tolerance_seconds does not apply: the scheme "${scheme}" does not sign a timestamp. Omit tolerance_seconds.`,
    })
  const isChecked =
    scheme === 'standard' && (secret !== before?.secret || before?.signature.scheme !== scheme)
  const key =
    isChecked && secret !== null
      ? openSecret(scope, { kind: { name: 'inbound_webhook' }, ...of }, 'secret', secret)
      : undefined
  if (key !== undefined && !BASE64.test(key))
    faults.push({
      path: '/secret',
      code: 'invalid_secret',
      message: 'With the scheme "standard", the secret is "whsec_" and at least 16 bytes as base64.',
    })
  return faults
}

const VALUES = ['{body}', '{timestamp}', '{method}', '{url}']

/** What is signed must have the body, and the time exactly where a header has it. */
function templateFaults({ scheme, signed, timestamp_header }: Signature): Detail[] {
  if (signed === undefined || scheme !== 'hmac') return []
  const fault = (code: string, message: string, more: Partial<Detail> = {}): Detail[] => [
    { path: '/signature/signed', code, message, ...more },
  ]
  const unknown = (signed.match(/\{[^}]*\}?/g) ?? []).find((each) => !VALUES.includes(each))
  if (unknown !== undefined)
    return fault('unknown_value', `${unknown} is not a value of a delivery. Use the allowed values.`, {
      received: unknown,
      allowed: VALUES,
    })
  if (!signed.includes('{body}'))
    return fault('required', 'signed needs {body}: otherwise a signature would fit any body.')
  // Each one is a pass over the body, before anything is known of its sender.
  if (signed.split('{body}').length > 2)
    return fault('duplicate', 'signed has {body} more than once. Write it once.')
  const hasTime = signed.includes('{timestamp}')
  if (hasTime === (timestamp_header !== undefined)) return []
  return hasTime
    ? fault('required', '{timestamp} needs a timestamp_header: the header with the time of sending.')
    : fault(
        'required',
        'signed needs {timestamp}: the time of timestamp_header would not be signed. Or leave timestamp_header out.',
      )
}
