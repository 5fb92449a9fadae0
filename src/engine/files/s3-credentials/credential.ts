/** A temporary key of a token to the files of a base, for clients of S3. */
import { createHmac, type KeyObject, randomBytes } from 'node:crypto'
import type { S3Credential as Row } from '../../prisma/client.ts'

export type S3Credential = {
  readonly id: string
  /** `PLTS…` and the last four characters. */
  readonly masked: string
  readonly fileType: string | null
  readonly permission: 'read' | 'write'
  /** The token that made it, and with which it ends. */
  readonly createdBy: string
  readonly createdAt: string
  readonly expiresAt: string
  /** Where and how a client connects. */
  readonly endpoint: string
  readonly bucket: string
  /** What its keys begin with; empty for all file types. */
  readonly prefix: string
  /** Only in the response that creates it. */
  readonly accessKeyId?: string
  readonly secretAccessKey?: string
  readonly sessionToken?: string
}

/** The gateway takes any region. For this one, boto3 signs URLs with Signature V4 and not with V2. */
export const REGION = 'auto'

const PREFIX = 'PLTS'
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** A new access key id: 20 characters, 80 bits of chance. */
export const newAccessKeyId = (): string =>
  PREFIX + Array.from(randomBytes(16), (byte) => BASE32.charAt(byte & 31)).join('')

/** The secrets of an access key id. They are derived, so none is stored. */
export const secretsOf = (
  key: KeyObject,
  accessKeyId: string,
): { secretAccessKey: string; sessionToken: string } => ({
  secretAccessKey: derive(key, 'secret', accessKeyId).slice(0, 40),
  sessionToken: derive(key, 'session', accessKeyId),
})

const derive = (key: KeyObject, use: string, accessKeyId: string): string =>
  createHmac('sha256', key).update(`${use}:${accessKeyId}`).digest('base64url')

export const toCredential = (row: Row, endpoint: string): S3Credential => ({
  id: row.id,
  masked: `${PREFIX}…${row.accessKeyId.slice(-4)}`,
  fileType: row.fileType,
  permission: row.permission === 'write' ? 'write' : 'read',
  createdBy: row.tokenId,
  createdAt: row.createdAt.toISOString(),
  expiresAt: row.expiresAt.toISOString(),
  endpoint,
  bucket: row.baseId,
  prefix: row.fileType === null ? '' : `${row.fileType}/`,
})
