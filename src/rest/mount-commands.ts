/** Commands that mount the files of an S3 credential as a folder. */

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
export function mountCommands(credential: Credential): { rclone: string; s3fs: string } | null {
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
