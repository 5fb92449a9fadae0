import { startFauxqs } from 'fauxqs'

/** Starts a server of S3 on loopback, with a bucket. Returns the address of the bucket as a setting. */
export async function openBucket(): Promise<{ url: string; close(): Promise<void> }> {
  // Where the SDK looks for credentials. The server takes any.
  process.env['AWS_ACCESS_KEY_ID'] ??= 'test'
  process.env['AWS_SECRET_ACCESS_KEY'] ??= 'test'
  const server = await startFauxqs({ port: 0, host: '127.0.0.1', logger: false })
  server.createBucket('contents')
  const endpoint = encodeURIComponent(`http://127.0.0.1:${server.port}`)
  return {
    url: `s3://contents/of/plinth?endpoint=${endpoint}&region=us-east-1`,
    close: () => server.stop(),
  }
}
