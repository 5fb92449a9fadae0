/** What the members of an export hold: shapes of their lines, and their order. */
import { z } from 'zod'
import { CONTENT_TYPE, readFilename } from '../../../contract/attachment-rules.ts'
import { readFilePath } from '../../../contract/file-path.ts'
import { ContentType, FileMetadata, VersionLabel } from '../../../contract/file-shapes.ts'
import { isRecordId, isTypeId } from '../../../contract/ids.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { MAX_INT4 } from '../../../foundation/units.ts'
import { isExternal } from '../../data/ledger/record.ts'
import { KINDS, OPERATIONS } from '../../log/entry.ts'

/** Clocks of two machines may differ by so much. */
const AHEAD_MS = 5 * 60_000
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const time = z.string().refine((text) => {
  const at = TIME.test(text) ? Date.parse(text) : Number.NaN
  return at <= Date.now() + AHEAD_MS
}, 'It must be a time of the past, such as 2026-01-31T09:30:00.000Z.')
const whole = z.int().min(0)
const version = z.int().min(1).max(MAX_INT4)
const digest = z.string().regex(/^[0-9a-f]{64}$/)
const recordId = z.string().refine(isRecordId)
const typeId = z.string().refine(isTypeId)
const named = z.string().min(1).max(LIMITS.nameChars)
const anyText = z.string().max(LIMITS.descriptionChars)
const external = z.string().refine(isExternal).nullable()
const data = z.record(z.string(), z.unknown())
const pair = { external_source: external, external_id: external }
const isWholePair = (line: { external_source: string | null; external_id: string | null }) =>
  (line.external_source === null) === (line.external_id === null)
const PAIR = 'external_source and external_id are both there, or both null.'

export const AboutShape = z.strictObject({
  format: z.literal(1),
  plinth: z.string(),
  base: z.strictObject({
    ...{ id: z.string(), name: z.string(), description: z.string().nullable(), settings: data, version },
    ...{ environment: z.string(), created_at: time, updated_at: time },
  }),
  ...{ seq: whole, exported_at: time, history: z.boolean(), history_from: time.nullable() },
})
export type About = z.output<typeof AboutShape>

const RecordLine = z
  .strictObject({
    ...{
      id: recordId,
      ...pair,
      version,
      status: z.enum(['active', 'cancelled']),
      cancelled_at: time.nullable(),
    },
    ...{ valid: z.boolean(), created_at: time, updated_at: time, data },
  })
  .refine(isWholePair, PAIR)
  .refine(
    ({ status, cancelled_at }) => (status === 'cancelled') === (cancelled_at !== null),
    'status and cancelled_at disagree.',
  )

const LinkLine = z
  .strictObject({
    ...{
      id: recordId,
      source_record_type: typeId,
      source_id: recordId,
      target_record_type: typeId,
      target_id: recordId,
    },
    ...{ ...pair, version, valid: z.boolean(), created_at: time, updated_at: time, data },
  })
  .refine(isWholePair, PAIR)

const content = {
  content_sha256: digest,
  size: whole,
  content_type: ContentType,
  label: VersionLabel.nullable(),
}
const path = z.string().refine((text) => {
  const read = readFilePath(text)
  return 'path' in read && read.path === text
}, 'It must be the path of a file.')
const fileId = z.string().regex(/^[\w-]{1,64}$/)
const FileLine = z.union([
  z.strictObject({
    ...{ id: fileId, path, version, ...content, metadata: FileMetadata },
    ...{ created_at: time, updated_at: time, deleted_at: time.nullable() },
  }),
  z.strictObject({ file_id: fileId, version, ...content, created_at: time, created_by: named }),
])

const filename = z.string().refine((text) => {
  try {
    return readFilename(text) === text
  } catch {
    return false
  }
})
const AttachmentLine = z.strictObject({
  ...{ id: fileId, record_type: typeId, record_id: recordId, record_created_at: time, filename },
  ...{
    content_type: z.string().max(LIMITS.contentTypeChars).regex(CONTENT_TYPE),
    size: whole,
    sha256: digest,
  },
  ...{ actor_name: named, created_at: time },
})

const ChangeLine = z
  .strictObject({
    ...{
      seq: whole,
      at: time,
      kind: z.enum(KINDS),
      record_type: typeId.nullable(),
      id: z.string().min(1).max(2048),
    },
    ...{ operation: z.enum(OPERATIONS), version, data: data.nullable(), ...pair },
    ...{ created_at: time.nullable(), cancelled_at: time.nullable(), actor_name: named, via: named },
    ...{ actor_kind: z.enum(['person', 'agent']).nullable(), request_id: anyText },
    ...{
      call: z.array(z.string().max(LIMITS.descriptionChars).nullable()).max(8).nullable(),
      cause: anyText.nullable(),
    },
  })
  .refine((line) => line.data !== null || line.operation === 'delete', 'Only a deletion is without data.')
  .refine((line) => (line.record_type !== null) === (line.kind === 'record'), 'record_type is of a record.')

export type RecordLine = z.output<typeof RecordLine>
export type LinkLine = z.output<typeof LinkLine>
export type FileLine = z.output<typeof FileLine>
export type AttachmentLine = z.output<typeof AttachmentLine>
export type ChangeLine = z.output<typeof ChangeLine>

/** The number of the entry that is the cause of another; undefined if the cause is none. */
export const entryIn = (cause: string | null): number | undefined =>
  cause !== null && /^\d{1,15}$/.test(cause) ? Number(cause) : undefined

export type Line = RecordLine | LinkLine | FileLine | AttachmentLine | ChangeLine

export const EndShape = z.strictObject({
  members: z.array(
    z.strictObject({ name: z.string(), bytes: whole, lines: whole.optional(), sha256: digest }),
  ),
  contents: whole,
})
export type Ended = z.output<typeof EndShape>

/** The members, in their order. Those of a pattern are in the order of their names. */
export const MEMBERS = {
  about: { name: /^plinth\.json$/, line: null },
  config: { name: /^config\.yaml$/, line: null },
  records: { name: /^records\/(.+)\.ndjson$/, line: RecordLine },
  relationships: { name: /^relationships\/(.+)\.ndjson$/, line: LinkLine },
  files: { name: /^files\/(.+)\.ndjson$/, line: FileLine },
  attachments: { name: /^attachments\.ndjson$/, line: AttachmentLine },
  changes: { name: /^changes\.ndjson$/, line: ChangeLine },
  contents: { name: /^contents\/([0-9a-f]{64})$/, line: null },
  end: { name: /^end\.json$/, line: null },
} as const satisfies Record<string, { name: RegExp; line: z.ZodType | null }>
export type MemberKind = keyof typeof MEMBERS
/** Those that each file has once. */
export const SINGLE: readonly MemberKind[] = ['about', 'config', 'attachments', 'changes', 'end']

/** Finds what a member is, and the id in its name. */
export function kindOf(name: string): { kind: MemberKind; id: string } | undefined {
  for (const kind of Object.keys(MEMBERS) as MemberKind[]) {
    const found = MEMBERS[kind].name.exec(name)
    if (found) return { kind, id: found[1] ?? '' }
  }
  return undefined
}
