/** Reads the content of a file as text. */
import { buffer } from 'node:stream/consumers'
import { decodeText } from '../../foundation/text-encoding.ts'
import { openContent } from '../core/contents/read.ts'
import type { Scope } from '../core/scope.ts'

/** A content in the store. `bytes` if the request has them: they need not be read. */
export type StoredContent = {
  readonly contentSha256: string
  readonly size: number
  readonly bytes?: Buffer | undefined
}

/** The text and whether it is all of it; null if the content is no UTF-8 text. */
export type Beginning = { readonly text: string; readonly isWhole: boolean }

/** Reads at most the first `maxBytes` of a content. They show whether a large content is binary. */
export async function beginningOf(
  scope: Pick<Scope, 'db' | 'blobs'>,
  content: StoredContent,
  maxBytes: number,
): Promise<Beginning | null> {
  const isWhole = content.size <= maxBytes
  const bytes = content.bytes?.subarray(0, maxBytes) ?? (await readBeginning(scope, content, maxBytes))
  const text = decodeText(bytes, !isWhole)
  return text === null ? null : { text, isWhole }
}

async function readBeginning(
  scope: Pick<Scope, 'db' | 'blobs'>,
  { contentSha256: sha256, size }: StoredContent,
  maxBytes: number,
): Promise<Buffer> {
  if (size === 0) return Buffer.alloc(0)
  const range = size <= maxBytes ? undefined : { start: 0, end: maxBytes - 1 }
  return buffer(await openContent(scope, { sha256, size }, range))
}
