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
}
const OF_HMAC = ['algorithm', 'encoding', 'prefix', 'timestamp_header'] as const

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
  const foreign = scheme === 'hmac' ? [] : OF_HMAC.filter((name) => signature[name] !== undefined)
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
