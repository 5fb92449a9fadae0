import { z } from 'zod'
import { LIMITS } from '../foundation/limits.ts'
import { ID_RULES, isTypeId } from './ids.ts'

/** Path of the S3 gateway on the server. */
export const S3_ROOT = '/s3'

/** The address of the gateway: the root of its own host, with the scheme and port of the server, or a path of the server. */
export function s3Endpoint(publicUrl: string, host: string | undefined): string {
  if (host === undefined) return `${publicUrl}${S3_ROOT}`
  const { protocol, port } = new URL(publicUrl)
  return `${protocol}//${host}${port === '' ? '' : `:${port}`}`
}

/** The body of a new S3 credential on every surface. */
export const S3CredentialBody = z.strictObject({
  file_type: z
    .string()
    .refine(isTypeId, `A file type id must be ${ID_RULES.type}.`)
    .nullish()
    .meta({ description: 'The file type that it reaches; without it, all of the base.' }),
  permission: z.enum(['read', 'write']),
  expires_in: z
    .int()
    .min(1)
    .max(LIMITS.s3CredentialSeconds)
    .meta({ description: `Seconds until it expires, at most ${LIMITS.s3CredentialSeconds}.` }),
})
