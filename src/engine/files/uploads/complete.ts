import { Readable } from 'node:stream'
import { CHECKSUMS, type ChecksumName, type Running } from '../../../foundation/checksums.ts'
import { type DomainError, invalid } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { openContent } from '../../core/contents/read.ts'
import { receiveAndClose } from '../../core/contents/receive.ts'
import { read, type Scope } from '../../core/scope.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { statement } from '../../storage/database/client.ts'
import { type File, type FileExpectation, policyOf, putFile, requireFit } from '../index.ts'
import { findUpload, lockUpload, PART_COLUMNS, type PartRow, type UploadAddress } from './upload.ts'

const ALL_PARTS = statement(
  'all_upload_parts',
  `SELECT ${PART_COLUMNS} FROM plinth.file_upload_part WHERE base_id = $1 AND upload_id = $2 ORDER BY number`,
)
const END = statement('end_upload', 'DELETE FROM plinth.file_upload WHERE base_id = $1 AND id = $2')

/** A part as the client names it: its number, and the digest that it was answered with. */
export type NamedPart = { number: number; sha256: string }

/** What the client says of the whole content. */
export type DeclaredContent = { size: number | null; checksum: DeclaredChecksum | null }

/**
 * Joins the named parts to the content of the file, and ends the upload.
 * @throws FORBIDDEN; NOT_FOUND; VALIDATION_ERROR for parts that are absent, out of order, too small, or other ones than
 * declared; CONFLICT
 */
export async function completeUpload(
  scope: WriteScope,
  address: UploadAddress,
  named: readonly NamedPart[],
  declared: DeclaredContent,
  expected: FileExpectation,
): Promise<File> {
  const upload = await findUpload(scope, address)
  const { storage } = await policyOf(scope, 'write', address)
  const rows = await read<PartRow>(scope, ALL_PARTS, [address.baseId, address.id])
  const parts = choose(new Map(rows.map((row) => [row.number, row])), named)
  const size = parts.reduce((sum, part) => sum + part.size, 0)
  requireFit(size, storage.max_bytes)
  if (declared.size !== null && declared.size !== size) throw otherSize(declared.size, size)
  const sum = declared.checksum && (await MultipartChecksum.of(declared.checksum))
  const source = Readable.from(joined(scope, parts, sum), { objectMode: false })
  const content = await receiveAndClose(scope, source, { maxBytes: storage.max_bytes })
  await sum?.check()
  return scope.db.statements(async (tx) => {
    await lockUpload(tx, address, 'alone')
    const within: WriteScope = { ...scope, db: tx, received: new Map([[content.sha256, content]]) }
    const { content_type: contentType, metadata } = upload
    const input = { content: { sha256: content.sha256 }, contentType, metadata, label: null }
    const file = await putFile(within, address, input, expected)
    await tx.query(END, [address.baseId, address.id])
    return file
  })
}

/** The named parts, in the order of their numbers. */
function choose(present: ReadonlyMap<number, PartRow>, named: readonly NamedPart[]): PartRow[] {
  if (named.length === 0) throw refused('required', 'Name at least one part.')
  return named.map(({ number, sha256 }, at) => {
    const part = present.get(number)
    if (at > 0 && number <= (named[at - 1]?.number ?? 0))
      throw refused('part_order', 'Name the parts in the order of their numbers.')
    if (!part || part.content_sha256 !== sha256)
      throw refused('part_not_found', `There is no part ${number} of that digest. Send it first.`)
    if (part.size < LIMITS.uploadPartBytesMin && at < named.length - 1)
      throw refused(
        'part_too_small',
        `Part ${number} has ${part.size} bytes. Each but the last has at least ${LIMITS.uploadPartBytesMin}.`,
      )
    return part
  })
}

async function* joined(
  scope: Scope,
  parts: readonly PartRow[],
  sum: MultipartChecksum | null,
): AsyncGenerator<Buffer> {
  for (const { content_sha256: sha256, size } of parts) {
    for await (const chunk of await openContent(scope, { sha256, size })) {
      sum?.update(chunk as Buffer)
      yield chunk as Buffer
    }
    await sum?.endPart()
  }
}

const otherSize = (expected: number, received: number): DomainError =>
  invalid({
    path: '/size',
    code: 'size_mismatch',
    message: `The parts have ${received} bytes together, and not ${expected}. Send what is missing, or name other parts.`,
    expected,
    received,
  })
const refused = (code: string, message: string): DomainError => invalid({ path: '/parts', code, message })

/** A checksum of a content in parts, in base64. `ofParts`: it is one of the checksums of the parts. */
type DeclaredChecksum = { algorithm: ChecksumName; value: string; ofParts: boolean }

/** The checksum of a content in parts, while they are joined. */
class MultipartChecksum {
  readonly #declared: DeclaredChecksum
  readonly #whole: Running
  #part: Running | null = null

  private constructor(declared: DeclaredChecksum, whole: Running, part: Running | null) {
    this.#declared = declared
    this.#whole = whole
    this.#part = part
  }

  static async of(declared: DeclaredChecksum): Promise<MultipartChecksum> {
    const { open } = CHECKSUMS[declared.algorithm]
    return new MultipartChecksum(declared, await open(), declared.ofParts ? await open() : null)
  }

  update(bytes: Buffer): void {
    const running = this.#part ?? this.#whole
    running.update(bytes)
  }

  async endPart(): Promise<void> {
    if (!this.#part) return
    this.#whole.update(Buffer.from(await this.#part.digest()))
    this.#part = await CHECKSUMS[this.#declared.algorithm].open()
  }

  /** @throws VALIDATION_ERROR if it is not the declared one */
  async check(): Promise<void> {
    const { algorithm, value } = this.#declared
    const computed = Buffer.from(await this.#whole.digest()).toString('base64')
    if (computed === value) return
    throw invalid({
      path: '/checksum',
      code: 'checksum_mismatch',
      message: `The parts have another ${algorithm} than the declared one. Compare them, and send those that differ again.`,
      expected: value,
      received: computed,
    })
  }
}
