/** Requests with a credential: what it may do, and whether it still may. */
import { oneFault } from '../../../foundation/errors.ts'
import { findValidSession } from '../../core/authentication/authenticate.ts'
import type { Scope } from '../../core/scope.ts'
import { accessToFiles, type FileReach } from '../../storage/access/narrow-access.ts'
import { actorOf, type TokenSession } from '../../storage/access/token-session.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import { secretsOf } from './credential.ts'

/** A credential as requests use it. Its secrets are for the check of a signature. */
export type CredentialSession = {
  readonly id: string
  readonly reach: FileReach
  readonly token: TokenSession
  readonly secretAccessKey: string
  readonly sessionToken: string
  readonly isExpired: boolean
}

type Found = {
  id: string
  base_id: string
  file_type: string | null
  permission: 'read' | 'write'
  is_expired: boolean
  hash: Buffer
}
// Read for each request: a revocation takes effect with the next one.
const FIND = statement(
  'find_s3_credential',
  `SELECT c.id, c.base_id, c.file_type, c.permission, c.expires_at <= now() AS is_expired, t.hash
   FROM plinth.s3_credential c JOIN plinth.token t ON t.id = c.token_id WHERE c.access_key_id = $1`,
)
const IS_VALID = statement(
  's3_credential_is_valid',
  'SELECT 1 AS one FROM plinth.s3_credential WHERE base_id = $1 AND id = $2 AND expires_at > now()',
)
const SWEEP = statement(
  'sweep_s3_credentials',
  `DELETE FROM plinth.s3_credential WHERE ctid = ANY (ARRAY(
     SELECT ctid FROM plinth.s3_credential WHERE expires_at < now() - interval '1 hour' LIMIT 2000))`,
)

/** The credential of an access key id; undefined if there is none, or its token is no longer valid. */
export async function findCredentialSession(
  services: Pick<Scope, 'db' | 'caches' | 'keys'>,
  accessKeyId: string,
): Promise<CredentialSession | undefined> {
  const [found] = await services.db.query<Found>(FIND, [accessKeyId])
  if (!found) return undefined
  const token = await findValidSession(services, found.hash.toString('hex'))
  if (!token) return undefined
  return {
    id: found.id,
    reach: { baseId: found.base_id, fileType: found.file_type, permission: found.permission },
    token,
    ...secretsOf(services.keys.s3, accessKeyId),
    isExpired: found.is_expired,
  }
}

/** Narrows the scope of the token to what the credential reaches, for as long as it is valid. */
export const withCredential = (scope: Scope, { id, reach, token }: CredentialSession): Scope => ({
  ...scope,
  access: accessToFiles(token.access, reach),
  actor: actorOf(token),
  standing: {
    isCurrent: () => false,
    recheck: async ({ db }) => {
      if ((await db.query(IS_VALID, [reach.baseId, id])).length === 0) throw ended()
    },
  },
})

const ended = () =>
  oneFault('FORBIDDEN', 'The S3 credential was revoked or has expired.', {
    path: '',
    code: 's3_credential_ended',
    message: 'Create a new one. Nothing was written.',
  })

/** Deletes expired credentials, a bounded number. It keeps them for an hour, so that their clients get the error of an expired one. */
export const sweepS3Credentials = async (db: Db): Promise<void> => void (await db.query(SWEEP, []))
