/** Statements of production as a change-set runs them: on its own rows, and those of production that they do not override. */
import { LRUCache } from 'lru-cache'
import { LIMITS } from '../../../foundation/limits.ts'
import type { Statement } from '../../storage/database/client.ts'
import { RECORD_OF_FEW_ENTRIES } from '../../storage/database/few-records.ts'

/** What a change-set reads and writes in place of each table: `plinth_draft` of the database has both. */
const RELATIONS = {
  record: 'records',
  relationship: 'relationships',
  record_index: 'index_entries',
  record_text: 'texts',
  record_word: 'words',
} as const
const TABLE = Object.keys(RELATIONS).join('|')

/** What else a bound statement may write: rows of the caller, and a note on an index that no data depends on. */
const OWN = new Set(['idempotency', 'plan', 'token', 'record_type_index'])

const WRITE = new RegExp(`\\b(INSERT INTO|UPDATE|DELETE FROM) plinth\\.(${TABLE}|change)\\b`, 'g')
const READ = new RegExp(`\\bplinth\\.(${TABLE})\\b( /\\* few (?:of (\\$\\d+) )?\\*/)?`, 'g')
/** The log is that of production, but where the difference is asked for. */
const LOG = /\bplinth\.change\b/g
const ANY_WRITE = /\b(?:INSERT INTO|UPDATE|DELETE FROM) plinth\.(\w+)/g
/** Has no effect on a function, and none is needed: the transaction holds the change-set. It must not name one, though. */
const LOCK = /\bFOR (?:(?:NO KEY )?UPDATE|KEY SHARE)\b( OF r\b)?/g
// A view has no arbiter for ON CONFLICT: its trigger decides.
const CONFLICTS =
  /\s+ON CONFLICT (?:DO NOTHING|\(base_id, index_id, (?:field, )?id\) DO UPDATE[\s\S]*?(?:IS DISTINCT FROM \([^)]*\)|x\.words <> excluded\.words))/g

/** A statement for a change-set, whose id is its last parameter. */
export type Overlaid = {
  readonly statement: Statement
  /** It writes or locks drafts: the transaction must hold the change-set. */
  readonly needsLock: boolean
  /** It names the change-set, so its id is bound. */
  readonly takesId: boolean
}

const known = new LRUCache<string, Overlaid>({
  max: 2000,
  maxSize: LIMITS.statementTextsChars,
  maxEntrySize: 2 * LIMITS.namedStatementChars,
  sizeCalculation: ({ statement }, key) => statement.text.length + key.length,
})
/** Most statements are constants, whose texts need not be compared: by their parameters, and whether they read the log. */
const ofConstants = new WeakMap<Statement, Overlaid[]>()

/**
 * `ofLog`: as entries of the log it reads the difference of the change-set.
 * @throws what is wrong with the code, for a statement that writes what no change-set holds
 */
export function overlaid(original: Statement, parameters: number, ofLog = false): Overlaid {
  const made = ofConstants.get(original) ?? []
  const place = 2 * parameters + Number(ofLog)
  const found = made[place] ?? ofText(original, parameters, ofLog)
  made[place] = found
  ofConstants.set(original, made)
  return found
}

function ofText(original: Statement, parameters: number, ofLog: boolean): Overlaid {
  const key = `${parameters}${ofLog ? '~' : ''} ${original.text}`
  const before = known.get(key)
  const found = before ?? translate(original, parameters, ofLog)
  if (!before) known.set(key, found)
  const { text } = found.statement
  if (text === original.text) return { ...found, statement: original }
  // A text has its name from the second use on, so it is not kept with the text.
  const name = original.name && `${original.name}~${ofLog ? '~' : ''}`
  return { ...found, statement: { ...original, name, text } }
}

function translate(original: Statement, parameters: number, ofLog: boolean): Overlaid {
  const { name, text } = original
  for (const [, table = ''] of text.matchAll(ANY_WRITE))
    if (!(table in RELATIONS) && table !== 'change' && !OWN.has(table))
      throw new Error(`Invariant violated: "${name}" writes plinth.${table} in a change-set`)
  const record = /ON CONFLICT DO NOTHING/.test(text) ? 'record_if_free' : 'record'
  let needsLock = false
  let takesId = false
  const read = (relation: string, of?: string) => {
    takesId = true
    return `plinth_draft.${relation}($${parameters + 1}${of ? `, ${of}` : ''})`
  }
  const next = text
    .replace(WRITE, (_, act: string, table: string) => {
      needsLock = true
      return `${act} plinth_draft.${table === 'record' && act === 'INSERT INTO' ? record : table}`
    })
    .replace(RECORD_OF_FEW_ENTRIES, () => `${read('record_of_entry', 'i.row_no')} r`)
    .replace(READ, (_, table: keyof typeof RELATIONS, few?: string, of?: string) =>
      read(`${few ? 'few_' : ''}${RELATIONS[table]}`, of),
    )
    .replace(LOG, (table) => (ofLog ? read('changes') : table))
  if (!needsLock && !takesId) return { statement: original, needsLock, takesId }
  needsLock ||= text.search(LOCK) >= 0
  // Views have no physical places. The number of a row is one that stays.
  const placed = next.replace(/\bctid\b/g, 'row_no').replace(/::tid\[\]/g, '::bigint[]')
  const whole = placed
    .replace(CONFLICTS, '')
    .replace(LOCK, (clause, of?: string) => clause.slice(0, clause.length - (of?.length ?? 0)))
  return { statement: { ...original, text: whole }, needsLock, takesId }
}
