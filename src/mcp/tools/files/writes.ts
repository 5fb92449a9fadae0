/** Tools that write files: put_file, edit_file, move_file and delete_file. */
import { z } from 'zod'
import { UNKNOWN_CONTENT } from '../../../contract/attachment-rules.ts'
import { trim } from '../../../contract/response-bodies.ts'
import { invalid } from '../../../foundation/errors.ts'
import { byName } from '../../tool/by-name.ts'
import { writing as all, tool } from '../../tool/tool.ts'
import { attachTo } from './attach.ts'
import { expected, one, patch, properties, put, remove } from './operations.ts'

const unlisted = { listed: false }
/** The options of all writes. Lists of tools cost tokens, so some are explained in the instructions only. */
const writing = { ...all, dry_run: all.dry_run.meta(unlisted) }
/** A repeated move or deletion finds nothing to do again. */
const repeatable = { ...writing, idempotency_key: all.idempotency_key.meta(unlisted) }

/** The engine checks number and sizes of edits. */
const edit = z.strictObject({ find: z.string(), replace: z.string(), all: z.boolean().exactOptional() })

const ofFiles = { permission: 'write', ofFiles: true, notInChangeSets: true } as const
const ofWhole = { ...ofFiles, ofWhole: 'write' } as const

export const writingTools = [
  tool('put_file', {
    title: 'Put file',
    description: 'Write text or base64. expected_version 0: create only. record type/id: attach.',
    ...ofFiles,
    hints: { destructive: true, idempotent: true },
    input: z.strictObject({
      file_type: z.string().optional(),
      path: one.path,
      record: z.string().optional(),
      text: z.string().optional(),
      base64: z.string().optional(),
      ...properties,
      expected_version: z.int32().min(0).optional(),
      ...writing,
    }),
    run: async (args, context) => {
      const { record, file_type, expected_version: version, ...content } = args
      if (record !== undefined) return attachTo(record, args, context)
      if (file_type === undefined) throw withoutPlace()
      const { content_type = content.text === undefined ? UNKNOWN_CONTENT : 'text/plain' } = content
      const when = version === 0 ? { must_be_absent: true } : { expected_version: version }
      return trim((await put(byName({ ...content, file_type, content_type, ...when }), context)).written)
    },
  }),
  tool('edit_file', {
    title: 'Edit file',
    description: 'Edit a text: find is there once, or all: true. patch: a unified diff.',
    ...ofWhole,
    hints: { destructive: true },
    input: z.strictObject({
      ...one,
      edits: z.array(edit).optional(),
      patch: z.string().optional(),
      label: properties.label,
      ...expected,
      ...writing,
    }),
    run: async (args, context) => {
      if (args.edits === undefined && args.patch === undefined)
        throw invalid({ path: '/edits', code: 'required', message: 'Send edits or a patch.' })
      return trim((await patch(byName(args), context)).written)
    },
  }),
  tool('move_file', {
    title: 'Move file',
    description: 'Move or change properties.',
    ...ofWhole,
    hints: { destructive: true },
    input: z.strictObject({
      ...one,
      new_path: z.string().optional(),
      ...properties,
      content_type: properties.content_type.meta(unlisted),
      label: properties.label.meta(unlisted),
      ...expected,
      ...repeatable,
    }),
    run: async (args, context) => trim((await patch(byName(args), context)).written),
  }),
  tool('delete_file', {
    title: 'Delete file',
    description: 'Delete a file.',
    ...ofWhole,
    hints: { destructive: true },
    input: z.strictObject({ ...one, ...expected, ...repeatable }),
    run: async (args, context) => trim((await remove(byName(args), context)).gone),
  }),
]

const withoutPlace = () =>
  invalid({
    path: '/file_type',
    code: 'required',
    message: 'Send file_type, or record to attach the file to a record: "<type>/<id>".',
  })
