import { S3CredentialBody } from '../../../contract/s3-shapes.ts'
import { check, inBody } from '../../../contract/validate.ts'
import { invalid, oneFault } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { uuidv7 } from '../../../foundation/uuid.ts'
import { outside, tokenRequired } from '../../core/authentication/may-manage.ts'
import { lockCreator } from '../../core/authentication/recheck-rights.ts'
import { requireBase } from '../../core/existing-base.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { requirePermission } from '../../storage/access/access.ts'
import { statement } from '../../storage/database/client.ts'
import { newAccessKeyId, type S3Credential, secretsOf, toCredential } from './credential.ts'

// The caller's token is locked, so its credentials are counted one after the other.
const COUNT = statement(
  'count_s3_credentials',
  'SELECT count(*)::int AS held FROM plinth.s3_credential WHERE token_id = $1 AND base_id = $2 AND expires_at > now()',
)
const FIND_TYPE = statement(
  'find_s3_file_type',
  'SELECT 1 AS one FROM plinth.file_type WHERE base_id = $1 AND id = $2 FOR KEY SHARE',
)

/**
 * Creates a credential with a part of the rights of the calling token. It ends with its time, with a revocation,
 * or with the token.
 * @throws FORBIDDEN without the permission on the base; NOT_FOUND; VALIDATION_ERROR; CONFLICT for too many
 */
export async function createS3Credential(
  scope: WriteScope,
  baseId: string,
  input: { fileType: string | null; permission: string; expiresIn: number },
): Promise<S3Credential> {
  const {
    file_type: fileType = null,
    permission,
    expires_in: seconds,
  } = check(
    S3CredentialBody,
    { file_type: input.fileType, permission: input.permission, expires_in: input.expiresIn },
    inBody(),
  )
  requirePermission(scope.access, permission, baseId, '*')
  const { tokenId } = scope.actor
  if (tokenId === null || scope.session?.key == null) throw needsToken()
  await requireBase(scope, baseId)
  const expiresAt = new Date(Date.now() + seconds * 1000)
  return scope.db.transaction(async (tx) => {
    const end = await lockCreator(tx, scope)
    if (end && expiresAt > end) throw outlives(end)
    if (fileType !== null && (await tx.query(FIND_TYPE, [baseId, fileType])).length === 0)
      throw unknownType(fileType)
    const [count] = await tx.query<{ held: number }>(COUNT, [tokenId, baseId])
    if ((count?.held ?? 0) >= LIMITS.s3CredentialsOfToken) throw tooMany()
    const accessKeyId = newAccessKeyId()
    const data = { baseId, id: uuidv7(), accessKeyId, fileType, permission, tokenId, expiresAt }
    const row = await tx.orm.s3Credential.create({ data })
    return {
      ...toCredential(row, scope.s3Endpoint()),
      accessKeyId,
      ...secretsOf(scope.keys.s3, accessKeyId),
    }
  })
}

const needsToken = () =>
  tokenRequired('An S3 credential belongs to an API token.', 'Send the request with a token of Plinth.')
const outlives = (end: Date) =>
  outside(
    '/expires_in',
    `An S3 credential cannot expire after the token that creates it: ${end.toISOString()}.`,
  )
const unknownType = (fileType: string) =>
  invalid({
    path: '/file_type',
    code: 'unknown_file_type',
    message: 'The file type does not exist. List the file types of the base, or create this one first.',
    received: fileType,
  })
const tooMany = () =>
  oneFault('CONFLICT', `The token has ${LIMITS.s3CredentialsOfToken} valid S3 credentials.`, {
    path: '',
    code: 'too_many',
    message: 'Delete some of them, or wait until they expire.',
  })
