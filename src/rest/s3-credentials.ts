/** REST routes of S3 credentials. */
import { z } from 'zod'
import { trim } from '../contract/response-bodies.ts'
import { S3CredentialBody } from '../contract/s3-shapes.ts'
import { graphql } from '../graphql/document.ts'
import { listOf } from './route/page.ts'
import { pageQuery } from './route/query.ts'
import { route, tagged } from './route/route.ts'
import { baseId, Deleted, onBase, time } from './route/shapes.ts'

const PATH = '/:base_id/s3-credentials'

const fields = z.object({
  id: z.string(),
  file_type: z.string().nullable().meta({ description: 'The file type that it reaches; null for all.' }),
  permission: z.enum(['read', 'write']),
  endpoint: z.string(),
  region: z.string(),
  bucket: z.string().meta({ description: 'The id of the base.' }),
  prefix: z.string().meta({ description: 'What the keys begin with; empty for all file types.' }),
  created_by: z.string().meta({ description: 'The id of the token that it belongs to.' }),
  created_at: time,
  expires_at: time,
})
const S3Credential = fields
  .extend({ masked: z.string().meta({ description: 'The access key id, masked.' }) })
  .meta({ id: 'S3Credential' })
const secret = z.string().nullable().meta({ description: 'Shown once; null in a dry run.' })
const NewS3Credential = fields
  .extend({
    access_key_id: secret,
    secret_access_key: secret,
    session_token: secret,
    mount: z
      .object({ rclone: z.string(), s3fs: z.string() })
      .nullable()
      .meta({ description: 'Commands that mount the files as a folder; null in a dry run.' }),
    dry_run: z.literal(true).optional(),
  })
  .meta({ id: 'NewS3Credential' })

const S3CredentialFields = graphql(`fragment S3CredentialFields on S3Credential {
  id file_type: fileType permission endpoint region bucket prefix created_by: createdBy created_at: createdAt expires_at: expiresAt
}`)

const params = z.strictObject({ base_id: baseId() })

export const s3Credentials = tagged('S3 credentials', [
  route(`POST ${PATH}`, {
    summary: 'Create a temporary S3 credential for the files of a base; its secrets are shown once',
    need: onBase('read'),
    params,
    body: S3CredentialBody,
    operation: graphql(
      `mutation CreateS3Credential($base: String!, $fileType: String, $permission: S3Permission!, $expiresIn: Int!) {
        made: createS3Credential(base: $base, fileType: $fileType, permission: $permission, expiresIn: $expiresIn) {
          ...S3CredentialFields access_key_id: accessKeyId secret_access_key: secretAccessKey session_token: sessionToken dry_run: dryRun
        }
      }`,
      [S3CredentialFields],
    ),
    reply: ({ made }, { params }) => ({
      status: 201,
      location: `/v1/${params.base_id}/s3-credentials/${made.id}`,
      body: {
        ...(made.dry_run ? made : { ...trim(made), file_type: made.file_type }),
        mount: mountCommands(made),
      },
    }),
    statuses: [201],
    answers: NewS3Credential,
  }),
  route(`GET ${PATH}`, {
    summary: 'List valid S3 credentials, newest first, without their secrets',
    need: onBase('read'),
    params,
    query: pageQuery,
    operation: graphql(
      `query ListS3Credentials($base: String!, $limit: Int, $offset: Int, $cursor: String, $includeTotal: Boolean) {
        page: s3Credentials(base: $base, limit: $limit, offset: $offset, cursor: $cursor, includeTotal: $includeTotal) {
          data { ...S3CredentialFields masked } hasMore truncated limit offset total nextCursor
        }
      }`,
      [S3CredentialFields],
    ),
    answers: listOf(S3Credential),
  }),
  route(`DELETE ${PATH}/:id`, {
    summary: 'Revoke an S3 credential',
    need: onBase('read'),
    params: params.extend({ id: z.string().min(1).max(64).meta({ description: 'Its id.' }) }),
    operation: graphql(
      `mutation DeleteS3Credential($base: String!, $id: String!) {
        gone: deleteS3Credential(base: $base, id: $id) { id deleted dry_run: dryRun }
      }`,
    ),
    answers: Deleted,
  }),
])

// Commands that mount the files of an S3 credential as a folder.

type Credential = {
  endpoint: string
  region: string
  bucket: string
  prefix: string
  access_key_id: string | null
  secret_access_key: string | null
  session_token: string | null
}

/** The secrets are in the environment of the commands, because other users can read their arguments. */
function mountCommands(credential: Credential): { rclone: string; s3fs: string } | null {
  const { endpoint, region, bucket, prefix } = credential
  const { access_key_id: id, secret_access_key: secret, session_token: token } = credential
  if (id === null || secret === null || token === null) return null
  const keys = `AWS_ACCESS_KEY_ID=${id} AWS_SECRET_ACCESS_KEY=${secret} AWS_SESSION_TOKEN=${token}`
  const folder = prefix.replace(/\/$/, '')
  const place = folder === '' ? bucket : `${bucket}/${folder}`
  const to = `./${folder === '' ? bucket : folder}`
  return {
    rclone: `${keys} rclone mount --vfs-cache-mode writes :s3,provider=Other,env_auth=true,region=${region},endpoint='"${endpoint}"':${place} ${to}`,
    s3fs: `${keys} s3fs ${bucket}:/${folder} ${to} -o url=${endpoint} -o use_path_request_style -o use_session_token`,
  }
}
