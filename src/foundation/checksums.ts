/** Checksums of contents, computed while the bytes pass. */
import { createHash } from 'node:crypto'

/** A checksum while it is computed. */
export type Running = { update(bytes: Buffer): void; digest(): Promise<Uint8Array> }

type Checksum = { readonly bytes: number; open(): Promise<Running> }

const ofNode = (algorithm: string) => async (): Promise<Running> => {
  const hash = createHash(algorithm)
  return { update: (bytes) => void hash.update(bytes), digest: async () => hash.digest() }
}
const crc = (name: 'Crc32' | 'Crc32c' | 'Crc64Nvme') => async (): Promise<Running> =>
  new (await import('@aws-sdk/checksums/crc'))[name]()

/** Length and computation of each kind of checksum. */
export const CHECKSUMS = {
  md5: { bytes: 16, open: ofNode('md5') },
  crc32: { bytes: 4, open: crc('Crc32') },
  crc32c: { bytes: 4, open: crc('Crc32c') },
  crc64nvme: { bytes: 8, open: crc('Crc64Nvme') },
  sha1: { bytes: 20, open: ofNode('sha1') },
  sha256: { bytes: 32, open: ofNode('sha256') },
} as const satisfies Record<string, Checksum>

export type ChecksumName = keyof typeof CHECKSUMS
