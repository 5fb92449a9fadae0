import * as sdk from '@aws-sdk/client-s3'
import { succeed } from './answers.ts'
import type { Body } from './server.ts'
import type { World } from './world.ts'

/** An S3 credential, as created. */
export type Keys = {
  id: string
  endpoint: string
  region: string
  bucket: string
  prefix: string
  access_key_id: string
  secret_access_key: string
  session_token: string
  mount: { rclone: string; s3fs: string }
}

/** Creates a credential for files in `crm`. */
export const newKeys = async (
  world: World,
  body: object = {},
  { call = world.call, base = 'crm' } = {},
): Promise<Keys> =>
  succeed(
    await call('POST', `/v1/${base}/s3-credentials`, { permission: 'write', expires_in: 900, ...body }),
    201,
  )

/** The SDK of AWS, as its users set it up. */
export const clientOf = (keys: Keys, more: sdk.S3ClientConfig = {}): sdk.S3Client =>
  new sdk.S3Client({
    endpoint: keys.endpoint,
    region: keys.region,
    forcePathStyle: true,
    maxAttempts: 1,
    credentials: {
      accessKeyId: keys.access_key_id,
      secretAccessKey: keys.secret_access_key,
      sessionToken: keys.session_token,
    },
    ...more,
  })

type Name =
  | `${'Put' | 'Get' | 'Head' | 'Copy' | 'Delete'}Object`
  | `${'Create' | 'Complete' | 'Abort'}MultipartUpload`
  | 'UploadPart'
  | 'UploadPartCopy'
  | 'ListParts'
  | 'ListMultipartUploads'
  | 'ListObjects'
  | 'ListObjectsV2'
  | 'ListBuckets'
  | 'HeadBucket'
  | 'CreateBucket'
  | 'GetBucketLocation'
  | 'GetObjectAcl'
  | 'DeleteObjects'

/** Sends operations by their names, to the bucket of the credential. */
export const senderOf = (keys: Keys, client = clientOf(keys)) => {
  // biome-ignore lint/suspicious/noExplicitAny: one function sends all operations.
  return async (name: Name, input: object = {}): Promise<any> => {
    // biome-ignore lint/performance/noDynamicNamespaceImportAccess: tests are not bundled.
    const Command = sdk[`${name}Command`] as unknown as new (input: object) => never
    return client.send(new Command({ Bucket: keys.bucket, ...input }))
  }
}
export type Send = ReturnType<typeof senderOf>

/** Code and status of the failure of an operation. */
export async function faultOf(work: Promise<unknown>): Promise<{ code: string; status: number }> {
  const thrown = await work.then(
    () => undefined,
    (error: Body) => error,
  )
  if (!thrown?.$metadata) throw new Error('It did not fail as it should', { cause: thrown })
  return { code: thrown.Code ?? thrown.name, status: thrown.$metadata.httpStatusCode }
}

export const bytesOf = async (found: { Body: { transformToByteArray(): Promise<Uint8Array> } }) =>
  Buffer.from(await found.Body.transformToByteArray())
