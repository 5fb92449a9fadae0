/**
 * Contents of files for the surfaces that stream them. GraphQL itself carries digests only: a surface stores a
 * content here and then names its digest in a mutation, or reads a digest from a query and then opens it here.
 */
import type { Readable } from 'node:stream'
import { type ContentName, openContent as open } from '../engine/core/contents/read.ts'
import { receiveContent } from '../engine/core/contents/receive.ts'
import type { Engine } from '../engine/engine.ts'
import { type ExportArgs, exportBase } from '../engine/environments/index.ts'
import type { ByteRange, PutLimits, StoredBlob } from '../engine/storage/blobs/blob-store.ts'
import { type Context, newWrite, type ReserveBytes } from './context.ts'

export type { ByteRange, StoredBlob } from '../engine/storage/blobs/blob-store.ts'

/**
 * Takes a content in, which mutations of this context may then refer to.
 * @throws VALIDATION_ERROR if it is too large, aborted, or has another digest
 */
export async function storeContent(
  { scope }: Context,
  source: Readable,
  limits: PutLimits,
): Promise<StoredBlob> {
  const stored = await receiveContent(scope, source, limits)
  scope.received.set(stored.sha256, stored)
  return stored
}

/** Opens a content. The caller got its digest from a query, which has checked the rights. */
export const openContent = ({ scope }: Context, content: ContentName, range?: ByteRange): Promise<Readable> =>
  open(scope, content, range)

/** The file of a base. The caller has asked `baseExport`, which has checked the rights. */
export const openExport = ({ scope }: Context, base: string, args: ExportArgs): AsyncGenerator<Buffer> =>
  exportBase(scope, base, args)

/** Opens the context of a signed link, and names its attachment. */
export type OpenLink = (
  use: 'download' | 'upload',
  link: string,
  requestId: string,
) => Promise<{
  context: Context
  attachment: { base: string; recordType: string; recordId: string; id: string }
}>

/** @throws FORBIDDEN, by the result, if the link was altered, is for another use, or has ended */
export const linkOpener =
  (engine: Engine): OpenLink =>
  async (use, link, requestId) => {
    const { scope, attachment } = await engine.linkScope(use, link, requestId)
    const [base, recordType, recordId] = attachment.key
    const write = newWrite()
    return {
      context: { scope, write },
      attachment: { base, recordType, recordId, id: attachment.attachmentId },
    }
  }

/** An S3 credential. Nothing may be done with it before a signature with its secrets was checked. */
type S3Credential = {
  readonly secretAccessKey: string
  readonly sessionToken: string
  readonly isExpired: boolean
  readonly tokenId: string
  readonly bucket: string
  /** Opens the context of a request. */
  enter(requestId: string, closed: () => AbortSignal, reserveBytes: ReserveBytes): Context
}
/** Finds the credential of an access key id; undefined if there is none. */
export type OpenS3 = (accessKeyId: string) => Promise<S3Credential | undefined>

export const s3Opener =
  (engine: Engine): OpenS3 =>
  async (accessKeyId) => {
    const session = await engine.findCredentialSession(accessKeyId)
    if (!session) return undefined
    const { reach, token, secretAccessKey, sessionToken, isExpired } = session
    return {
      secretAccessKey,
      sessionToken,
      isExpired,
      tokenId: token.tokenId,
      bucket: reach.baseId,
      enter: (requestId, closed, reserveBytes) => ({
        scope: engine.s3Scope(session, requestId, closed, reserveBytes),
        write: newWrite(),
      }),
    }
  }
