/** Makes records of the answers of a source, by its mapping. */
import { DomainError } from '../../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { isObject } from '../../../foundation/is-object.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { isExternal } from '../../data/ledger/record.ts'
import { conversionFor, type Find, mapFields, textAt } from '../../schema/field-mapping/map-fields.ts'
import { compileJsonPath, openPathBudget, type PathBudget } from '../../schema/json-path/json-path.ts'
import { maskIn } from '../../storage/vault/mask.ts'
import type { SourceAnswer } from './call-source.ts'
import { unreadable } from './failures.ts'
import type { SourceUse } from './find-source.ts'
import { type SourceRecord, sourceRecord } from './source-record.ts'

/**
 * The record of an answer. `id` is what the caller named it by.
 * @throws INTERNAL_ERROR for an answer that is not as the source declares it
 */
export async function recordOf(
  use: SourceUse,
  answer: SourceAnswer,
  id: string | undefined,
): Promise<SourceRecord> {
  const budget = openPathBudget()
  const path = use.request.response_path ?? '$'
  const [element] = await elementsAt(use, answer, budget, path)
  return readable(use, () => mapper(use, answer, budget)(element, path, id))
}

/**
 * The records of a page, and the number of all records if the source says it.
 * @throws as recordOf
 */
export async function recordsOf(
  use: SourceUse<'list'>,
  answer: SourceAnswer,
): Promise<{
  elements: unknown[]
  total: number | null
  toRecord(element: unknown, n: number): Promise<SourceRecord>
}> {
  const budget = openPathBudget()
  const { response_path: path = '$', total_path } = use.request
  const found = await elementsAt(use, answer, budget, path)
  const elements = compileJsonPath(path).isSingular ? found[0] : found
  if (!Array.isArray(elements)) throw unreadable(use, `There is no array at ${path}.`)
  const total = total_path === undefined ? null : await totalAt(use, answer, budget, total_path)
  const map = mapper(use, answer, budget)
  return {
    elements,
    total,
    toRecord: (element, n) => readable(use, () => map(element, `element ${n} of ${path}`, undefined)),
  }
}

const elementsAt = (use: SourceUse, { json }: SourceAnswer, budget: PathBudget, path: string) =>
  readable(use, () => compileJsonPath(path).find(json, budget))

async function totalAt(
  use: SourceUse,
  { json }: SourceAnswer,
  budget: PathBudget,
  path: string,
): Promise<number> {
  const [found] = await readable(use, () => compileJsonPath(path).find(json, budget))
  const total = typeof found === 'string' && /^\d{1,15}$/.test(found) ? Number(found) : found
  if (Number.isSafeInteger(total) && Number(total) >= 0) return Number(total)
  throw unreadable(use, `There is no whole number at ${path}, which is the number of all records.`)
}

type ToRecord = (element: unknown, at: string, id: string | undefined) => Promise<SourceRecord>

/** What all records of an answer share: the budget of paths, and the room for values. */
function mapper(use: SourceUse, { json, secrets }: SourceAnswer, budget: PathBudget): ToRecord {
  const { type, source } = use
  const { external_id: idField, ...fields } = source.field_mapping?.to_plinth ?? {}
  const idPath = typeof idField === 'string' ? idField : undefined
  const options = conversionFor(type, LIMITS.sourceAnswerBytes)
  const room = { left: options.bytes }
  const find: Find = async (path, { element }) => {
    const compiled = compileJsonPath(path)
    return { values: await compiled.find(element, budget), isSingular: compiled.isSingular }
  }
  return async (element, at, id) => {
    if (turnIsOver()) await nextTurn()
    if (!isObject(element)) throw unreadable(use, `There is no object at ${at}.`)
    const place = { payload: json, element, at: '', room }
    const externalId = id ?? (idPath === undefined ? '' : await textAt(idPath, 'external_id', place, find))
    if (id === undefined && !isExternal(externalId))
      throw unreadable(
        use,
        `The external_id at ${idPath} must have 1 to ${LIMITS.externalIdChars} characters.`,
      )
    const isMapped = Object.keys(fields).length > 0
    const data = isMapped ? await mapFields(fields, place, options, find) : element
    const [shownId, shown] =
      secrets.length > 0 ? await maskIn([externalId, data] as const, secrets) : [externalId, data]
    return sourceRecord(type.id, source.name, shownId, shown)
  }
}

/** Answers that do not fit are failures of the source, and not of the request. */
async function readable<T>(use: SourceUse, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (thrown) {
    if (!(thrown instanceof DomainError) || thrown.code !== 'VALIDATION_ERROR') throw thrown
    const [fault] = thrown.details
    throw unreadable(use, `${fault?.path ? `${fault.path}: ` : ''}${thrown.message}`)
  }
}
