/** A base as one file: a tar of the state at one moment, written as the reader takes it. */
import { createHash } from 'node:crypto'
import { listName } from '../../../contract/config-shapes.ts'
import { invalid } from '../../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { packageVersion } from '../../../foundation/version.ts'
import { openContent } from '../../core/contents/read.ts'
import { baseNotFound } from '../../core/existing-base.ts'
import type { Scope } from '../../core/scope.ts'
import { subscriberOf } from '../../log/stream-limits.ts'
import { requirePermission } from '../../storage/access/access.ts'
import type { Statement } from '../../storage/database/client.ts'
import type { Snapshot } from '../../storage/database/snapshots.ts'
import { type Config, getConfig } from '../config.ts'
import type { Ended } from './members.ts'
import {
  ABOUT,
  ATTACHMENT_LINES,
  CHANGE_LINES,
  FILE_LINES,
  FILE_TYPES,
  LAST_CHANGE_LINES,
  LINK_LINES,
  measureOf,
  NEXT_CONTENTS,
  OPEN_CONTENTS,
  RECORD_LINES,
} from './statements.ts'
import { header, padding, TAR_END } from './tar.ts'

export type ExportArgs = { readonly history: boolean }

type About = Record<string, unknown> & {
  seq: number
  exported_at: string
  history_from: string | null
  is_change_set: boolean
}

/** What an export is of, for a caller that may make one. */
export type BaseExport = { readonly base: string; readonly filename: string }

/**
 * @throws FORBIDDEN without `admin` on the base; NOT_FOUND; VALIDATION_ERROR for a change-set
 */
export async function describeExport(scope: Scope, baseId: string): Promise<BaseExport> {
  requirePermission(scope.access, 'admin', baseId, '*')
  await aboutOf(scope, baseId)
  return { base: baseId, filename: `${baseId}.plinth.tar` }
}

async function aboutOf({ db }: Pick<Scope, 'db'>, baseId: string): Promise<About> {
  const [about] = await db.query<About>(ABOUT, [baseId])
  if (!about) throw baseNotFound(baseId)
  if (!about.is_change_set) return about
  throw invalid({
    path: '/base_id',
    code: 'is_change_set',
    message: `"${baseId}" is a change-set: it holds drafts over its production base. Export that base.`,
    received: baseId,
  })
}

/**
 * The file of a base. It fails if the rights of the token change while it is read.
 * @throws as `describeExport`; RATE_LIMITED above the limit of the token or the process
 */
export async function* exportBase(scope: Scope, baseId: string, args: ExportArgs): AsyncGenerator<Buffer> {
  requirePermission(scope.access, 'admin', baseId, '*')
  const slot = scope.feed.openStream(subscriberOf(scope), baseId, scope.closed?.())
  let snapshot: Snapshot | undefined
  try {
    const opened = await openWithConfig(scope, baseId)
    snapshot = opened.snapshot
    yield* new Writer(scope, opened.snapshot, slot.signal).write(baseId, opened.config, args)
  } finally {
    snapshot?.close()
    slot.end()
  }
}

/** Opens the snapshot, and reads the configuration that it has: the ORM reads it, which is not in the snapshot. */
async function openWithConfig(scope: Scope, baseId: string): Promise<{ snapshot: Snapshot; config: Config }> {
  let config = await getConfig(scope, baseId)
  for (let tries = 1; ; tries++) {
    const snapshot = await scope.snapshots.open(scope.actor.tokenId ?? '', LIMITS.wholeResultMs)
    try {
      // Takes the snapshot.
      await aboutOf(snapshot, baseId)
      const after = await getConfig(scope, baseId)
      if (after.hash === config.hash) return { snapshot, config }
      config = after
    } catch (thrown) {
      snapshot.close()
      throw thrown
    }
    snapshot.close()
    if (tries === LIMITS.promotionTries) throw changing(baseId)
  }
}

const changing = (baseId: string) =>
  invalid({
    path: '/base_id',
    code: 'changing',
    message: `The configuration of base "${baseId}" changes all the time. Export it when it rests.`,
  })

class Writer {
  readonly #members: Ended['members'] = []
  #contents = 0

  readonly #scope: Scope
  readonly #snapshot: Snapshot
  readonly #signal: AbortSignal

  constructor(scope: Scope, snapshot: Snapshot, signal: AbortSignal) {
    this.#scope = scope
    this.#snapshot = snapshot
    this.#signal = signal
  }

  async *write(baseId: string, config: Config, { history }: ExportArgs): AsyncGenerator<Buffer> {
    const {
      is_change_set: _,
      seq,
      exported_at,
      history_from,
      ...base
    } = await aboutOf(this.#snapshot, baseId)
    const from = history ? history_from : exported_at
    const about = { format: 1, plinth: packageVersion(), base, seq, exported_at, history, history_from: from }
    yield* this.#text('plinth.json', about)
    // JSON is YAML too, and is read in turns of the event loop, within a bound.
    yield* this.#text('config.yaml', config)
    for (const id of idsOf(config, 'record_type'))
      yield* this.#lines(`records/${id}.ndjson`, RECORD_LINES, [baseId, id])
    for (const id of idsOf(config, 'relationship_type'))
      yield* this.#lines(`relationships/${id}.ndjson`, LINK_LINES, [baseId, id])
    for (const { id } of await this.#snapshot.db.query<{ id: string }>(FILE_TYPES, [baseId, history]))
      yield* this.#lines(`files/${id}.ndjson`, FILE_LINES, [baseId, id, history])
    yield* this.#lines('attachments.ndjson', ATTACHMENT_LINES, [baseId, history])
    yield* this.#lines('changes.ndjson', history ? CHANGE_LINES : LAST_CHANGE_LINES, [baseId])
    yield* this.#contentsOf(baseId, history)
    yield* this.#text('end.json', { members: this.#members, contents: this.#contents } satisfies Ended)
    yield TAR_END
  }

  async *#text(name: string, value: object): AsyncGenerator<Buffer> {
    const bytes = Buffer.from(`${JSON.stringify(value, null, 2)}\n`)
    yield* this.#member(name, bytes.length, undefined, [bytes])
  }

  async *#lines(name: string, statement: Statement, values: readonly unknown[]): AsyncGenerator<Buffer> {
    const [measured] = await this.#snapshot.db.query<{ lines: number; bytes: number }>(
      measureOf(statement),
      values,
    )
    const { lines = 0, bytes = 0 } = measured ?? {}
    yield* this.#member(name, bytes, lines, this.#rows(statement, values))
  }

  async *#rows(statement: Statement, values: readonly unknown[]): AsyncGenerator<Buffer> {
    for await (const { rows } of this.#snapshot.rows<{ line: string }>(statement, values, this.#signal)) {
      if (turnIsOver()) await nextTurn()
      if (rows.length > 0) yield Buffer.from(`${rows.map(({ line }) => line).join('\n')}\n`)
    }
  }

  async *#contentsOf(baseId: string, history: boolean): AsyncGenerator<Buffer> {
    const { db } = this.#snapshot
    await db.query(OPEN_CONTENTS, [baseId, history])
    type Row = { sha256: string; size: number; bytes: Buffer | null }
    for (;;) {
      const rows = await db.query<Row>(NEXT_CONTENTS, [])
      if (rows.length === 0) return
      for (const { sha256, size, bytes } of rows) {
        this.#signal.throwIfAborted()
        this.#contents++
        yield header(`contents/${sha256}`, size)
        yield* bytes ? [bytes] : this.#stored(sha256, size)
        yield padding(size)
      }
    }
  }

  async *#stored(sha256: string, size: number): AsyncGenerator<Buffer> {
    for await (const chunk of await openContent(this.#scope, { sha256, size })) {
      this.#signal.throwIfAborted()
      yield chunk as Buffer
    }
  }

  async *#member(
    name: string,
    size: number,
    lines: number | undefined,
    chunks: Iterable<Buffer> | AsyncIterable<Buffer>,
  ): AsyncGenerator<Buffer> {
    const hash = createHash('sha256')
    let written = 0
    yield header(name, size)
    for await (const chunk of chunks) {
      hash.update(chunk)
      written += chunk.length
      yield chunk
    }
    if (written !== size) throw new Error(`The member ${name} has ${written} bytes, and not ${size}`)
    yield padding(size)
    this.#members.push({
      name,
      bytes: size,
      ...(lines !== undefined && { lines }),
      sha256: hash.digest('hex'),
    })
  }
}

const idsOf = (config: Config, kind: string): string[] =>
  (config[listName(kind)] as readonly { id: string }[]).map(({ id }) => id).sort()
