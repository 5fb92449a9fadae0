/**
 * Uses the S3 gateway through minio-js, as its users do, with host, port and keys only. Arguments: the endpoint and the keys
 * as JSON. Prints its findings as JSON.
 */
import { Client } from 'minio'

const keys = JSON.parse(process.argv[2])
const { hostname, port } = new URL(keys.endpoint)
const client = new Client({
  endPoint: hostname,
  port: Number(port),
  useSSL: false,
  accessKey: keys.access_key_id,
  secretKey: keys.secret_access_key,
  sessionToken: keys.session_token,
})
const read = async (stream) => Buffer.concat(await stream.toArray())
const { bucket } = keys
const large = Buffer.alloc(12 * 1024 * 1024, 'large')

await client.putObject(bucket, 'docs/a b+é.txt', 'hello', 5, {
  'Content-Type': 'text/plain',
  'X-Amz-Meta-Year': '2026',
})
await client.putObject(bucket, 'docs/large', large)
const stat = await client.statObject(bucket, 'docs/a b+é.txt')
const listed = await client.listObjectsV2(bucket, 'docs/', true).toArray()
const asked = { 'response-content-disposition': 'attachment; filename="b.txt"' }
const download = await fetch(await client.presignedGetObject(bucket, 'docs/a b+é.txt', 60, asked))
const upload = await fetch(await client.presignedPutObject(bucket, 'docs/up', 60), {
  method: 'PUT',
  body: 'up',
})
const found = {
  exists: await client.bucketExists(bucket),
  text: String(await read(await client.getObject(bucket, 'docs/a b+é.txt'))),
  isLargeWhole: (await read(await client.getObject(bucket, 'docs/large'))).equals(large),
  stat: [stat.size, stat.metaData.year],
  names: listed.map(({ name }) => name),
  download: [await download.text(), download.headers.get('content-disposition')],
  upload: [upload.status, String(await read(await client.getObject(bucket, 'docs/up')))],
}
await client.removeObjects(bucket, found.names)
process.stdout.write(
  JSON.stringify({ ...found, left: await client.listObjectsV2(bucket, 'docs/', true).toArray() }),
)
