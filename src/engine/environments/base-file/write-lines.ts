/** Writes the lines of a checked export, in the transaction that makes its base. */

import { Readable } from 'node:stream'
import { invalid } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { BASE, type Base, baseTable } from '../../configuration/bases/index.ts'
import { stateOf, viewOf } from '../../configuration/lifecycle/fields.ts'
import { TRIGGER } from '../../configuration/triggers/index.ts'
import { appendChange } from '../../core/append-change.ts'
import { receiveContent } from '../../core/contents/receive.ts'
import { isRow, STORE_SMALL } from '../../core/contents/reference.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { buildIndexes } from '../../data/indexes/index.ts'
import { IMPORT_RECORDS } from '../../data/ledger/bring-back.ts'
import { IMPORT_LINKS } from '../../data/ledger/relationship-statements.ts'
import { enterTexts } from '../../files/index.ts'
import { MARK_IMPORT } from '../../log/watermark.ts'
import {
  type Cardinality,
  hasOneSource,
  hasOneTarget,
} from '../../schema/compiled-types/compiled-relationship-type.ts'
import { sqlState } from '../../storage/database/errors.ts'
import { applyEdits, prepareEdits } from '../apply-edits.ts'
import type { CheckedFile } from './check-file.ts'
import {
  BASE_AS_EXPORTED,
  CLEAR_LOG,
  CONFIGURATION_AS_LOGGED,
  HISTORY_FROM,
  IMPORT_ATTACHMENTS,
  IMPORT_CHANGES,
  IMPORT_FILE_VERSIONS,
  IMPORT_FILES,
  NEXT_FILES,
  NOT_AS_LOGGED,
} from './import-statements.ts'
import { batchesOf, linesOf } from './lines.ts'
import { type ChangeLine, entryIn, kindOf, type MemberKind } from './members.ts'
import { type Member, notAnExport, readMembers } from './tar.ts'

type Batch = { readonly lines: readonly Buffer[]; readonly text: string }
/** Writes some lines of a member of the id. */
type WriteBatch = (id: string, batch: Batch) => Promise<unknown>

/** @throws VALIDATION_ERROR for what the database refuses: two records with one external pair, for example */
export async function writeLines(
  scope: WriteScope,
  baseId: string,
  checked: CheckedFile,
  source: AsyncIterable<Buffer>,
): Promise<void> {
  const { db } = scope
  await db.query(MARK_IMPORT, [])
  await db.query(CLEAR_LOG, [baseId])
  const write: Partial<Record<MemberKind, WriteBatch>> = {
    records: (id, { text }) => db.query(IMPORT_RECORDS, [baseId, id, text]),
    relationships: async (id, { text, lines }) => {
      const type = checked.config.resources.get('relationship_type')?.get(id)
      const cardinality = (type?.['cardinality'] ?? 'many_to_many') as Cardinality
      const ends = [hasOneTarget(cardinality), hasOneSource(cardinality)]
      const [made] = await db.query<{ count: number }>(IMPORT_LINKS, [baseId, id, text, ...ends])
      if (made?.count !== lines.length)
        throw notAnExport(
          `/relationships/${id}.ndjson`,
          'unknown_record',
          'An end is no record of the export.',
        )
    },
    files: async (id, { text }) => {
      await db.query(IMPORT_FILES, [baseId, id, text])
      await db.query(IMPORT_FILE_VERSIONS, [baseId, text])
    },
    attachments: (_, { text }) => db.query(IMPORT_ATTACHMENTS, [baseId, text]),
    changes: changesOf(scope, baseId, checked),
  }
  const contents = new Contents(scope)
  for await (const member of readMembers(source)) {
    const { kind, id } = kindOf(member.name) ?? { kind: 'end', id: '' }
    if (kind === 'contents') await contents.take(id, member)
    const writeBatch = write[kind]
    if (!writeBatch) continue
    for await (const batch of batchesOf(linesOf(member.name, member.bytes)))
      await placed(member.name, () => writeBatch(id, batch))
  }
  await contents.flush()
}

/** Says which member the database refuses, for what no line alone shows. */
async function placed(member: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (thrown) {
    const state = sqlState(thrown) ?? ''
    if (!/^(22|23)/.test(state)) throw thrown
    const { detail, message } = thrown as { detail?: string; message?: string }
    throw invalid({
      path: `/${member}`,
      code: 'invalid_data',
      message: `The database refuses the lines of the member: ${detail ?? message ?? state}`,
    })
  }
}

/** Entries draw new numbers, and causes that name one follow. */
function changesOf({ db }: WriteScope, baseId: string, { about, causes }: CheckedFile): WriteBatch {
  const numbers = new Map<number, string>()
  const renumbered = (line: Buffer): { seq: number; text: string } => {
    const text = line.toString('utf8')
    const entry = JSON.parse(text) as ChangeLine
    const cause = entryIn(entry.cause)
    if (cause === undefined) return { seq: entry.seq, text }
    return { seq: entry.seq, text: JSON.stringify({ ...entry, cause: numbers.get(cause) ?? null }) }
  }
  return async (_, { lines, text }) => {
    if (causes.size === 0) return db.query(IMPORT_CHANGES, [baseId, text, about.base.id])
    // A cause may be in the same batch, so these come in pieces that end before an entry with a cause.
    let piece: { seq: number; text: string }[] = []
    const write = async () => {
      const rows = await db.query<{ seq: string }>(IMPORT_CHANGES, [
        ...[baseId, `[${piece.map((each) => each.text).join(',')}]`, about.base.id],
      ])
      for (const [n, { seq }] of piece.entries()) if (causes.has(seq)) numbers.set(seq, rows[n]?.seq ?? '')
      piece = []
    }
    for (const line of lines) {
      if (piece.some(({ seq }) => causes.has(seq))) await write()
      piece.push(renumbered(line))
    }
    return write()
  }
}

/** Takes contents in: small ones together, as rows. */
class Contents {
  readonly #scope: WriteScope
  #small: { sha256: string; bytes: Buffer }[] = []
  #bytes = 0

  constructor(scope: WriteScope) {
    this.#scope = scope
  }
  async take(sha256: string, { size, bytes }: Member): Promise<void> {
    const source = Readable.from(bytes, { objectMode: false })
    const stored = await receiveContent(this.#scope, source, { maxBytes: size, sha256 })
    if (!stored.bytes || !isRow(stored)) return
    this.#small.push({ sha256, bytes: stored.bytes })
    this.#bytes += size
    if (this.#bytes > LIMITS.statementChars / 4 || this.#small.length === LIMITS.importedLines)
      await this.flush()
  }
  async flush(): Promise<void> {
    const small = this.#small
    this.#small = []
    this.#bytes = 0
    if (small.length === 0) return
    await this.#scope.db.query(STORE_SMALL, [
      small.map(({ sha256 }) => sha256),
      small.map(({ bytes }) => bytes),
    ])
  }
}

/** Brings what follows from the lines: versions of the configuration, indexes, words of files, and who imported it. */
export async function completeImport(scope: WriteScope, baseId: string, checked: CheckedFile): Promise<Base> {
  const { db } = scope
  const { about } = checked
  for (const statement of CONFIGURATION_AS_LOGGED)
    await placed('changes.ndjson', () => db.query(statement, [baseId]))
  const [other] = await db.query<{ kind: string; id: string }>(NOT_AS_LOGGED, [baseId])
  if (other)
    throw notAnExport(
      '/changes.ndjson',
      'invalid_history',
      `The ${other.kind} "${other.id}" is not as its history says.`,
    )
  if (about.history_from !== null) await db.query(HISTORY_FROM, [baseId, about.history_from])
  await buildIndexes(db, baseId)
  await enterFiles(scope, baseId)
  await disable(scope, baseId, checked)
  await db.query(BASE_AS_EXPORTED, [baseId, about.base.version, about.base.created_at])
  const [row] = await baseTable(db).findMany({ where: { id: baseId } })
  if (!row) throw new Error('An import without a base')
  await appendChange(scope, {
    ...{
      baseId,
      kind: 'base',
      id: baseId,
      operation: 'restore',
      version: row.version,
      state: stateOf(BASE, row),
    },
  })
  return viewOf(BASE, row) as Base
}

async function enterFiles(scope: WriteScope, baseId: string): Promise<void> {
  type Found = Parameters<typeof enterTexts>[2][number]
  for (let after = ''; ; ) {
    const files = await scope.db.query<Found>(NEXT_FILES, [baseId, after])
    const last = files.at(-1)
    if (!last) return
    await enterTexts(scope, baseId, files)
    after = last.id
  }
}

/** Triggers that would send from here too what the base that was exported may still send. */
export const disabledTriggers = ({ config }: CheckedFile): string[] =>
  [...(config.resources.get('trigger') ?? [])].flatMap(([id, { enabled }]) => (enabled === false ? [] : [id]))

/** Configuration is as it was, also where it names what is absent, or no longer fits what it names. */
export const asExported = () => ({ leavesReferences: true }) as const

async function disable(scope: WriteScope, baseId: string, checked: CheckedFile): Promise<void> {
  const located = (thrown: unknown) => thrown
  const edits = disabledTriggers(checked).map((id) => {
    const before = checked.config.resources.get('trigger')?.get(id) ?? {}
    return { kind: TRIGGER, id, before, after: { ...before, enabled: false } }
  })
  await applyEdits(scope, baseId, await prepareEdits(edits as never, { located, optionsOf: asExported }), {
    isForced: false,
    located,
  })
}
