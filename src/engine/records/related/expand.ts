import { invalid } from '../../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { readableRelationshipTypes } from '../../configuration/relationship-types/index.ts'
import { findType } from '../../core/load-type.ts'
import { rightsOf } from '../../core/row-policy/apply.ts'
import type { Scope } from '../../core/scope.ts'
import type { ExpandStep, Expansion } from '../../data/ledger/expansion.ts'
import { type RecordRow, toView } from '../../data/ledger/record.ts'
import { namedTypes } from '../../storage/access/access.ts'
import type { CappedRows, RowCap } from '../../storage/database/capped-query.ts'
import { shaped } from '../../storage/database/client.ts'
import { ATTACHMENTS_STEP, attachmentsOf } from '../attachments/index.ts'
import { toRelationshipView } from '../relationships/index.ts'
import { titleIn, titlesOf } from '../titles.ts'
import { requireRelationshipTypes } from './check-types.ts'
import { EXPAND, expandWithin, linkOf } from './expand-statement.ts'
import { type PolicySql, policySqlOf } from './policy-sql.ts'

/** Prefix tree of expansion steps: paths with a common start share nodes. */
type Tree = Map<string, { step: ExpandStep; below: Tree }>
/** A list to fill: the links of a record along a step. `times` counts its occurrences in the response. */
type List = {
  recordType: string
  id: string
  name: string
  step: ExpandStep
  below: Tree
  of: Expansion
  times: number
}
type Row = RecordRow & { n: number; far: string; record_type: string }
type Key = { recordType: string; id: string }

/**
 * Expands records along the paths, with one statement per level. A list shows the oldest linked records up to
 * a limit, and a flag if there are more.
 * @throws VALIDATION_ERROR at `/expand` for an unknown relationship type, and when the complete expansion is
 * too large
 */
export async function expandRecords(
  scope: Scope,
  { baseId, recordType }: { baseId: string; recordType: string },
  paths: readonly (readonly ExpandStep[])[],
  ids: readonly string[],
): Promise<Expansion[]> {
  const types = await readableRelationshipTypes(scope, baseId)
  const isOfFiles = ({ relType, incoming }: ExpandStep) =>
    relType === ATTACHMENTS_STEP && !incoming && !types.has(relType)
  const isTitled = (step: ExpandStep) => isOfFiles(step) && step.asTitle
  if (paths.some((path) => path.slice(0, -1).some(isOfFiles) || path.some(isTitled))) throw endsThere()
  const links = paths.flat().filter((step) => !isOfFiles(step))
  const names = [...new Set(links.map(({ relType }) => relType))]
  await requireRelationshipTypes(scope, baseId, names, '/expand', recordType)
  const policySql = await policySqlOf(scope, baseId)
  const tree = treeOf(paths)
  const roots = ids.map((id) => openLists({ recordType, id }, tree, 1))
  let level = roots.flatMap(({ lists }) => lists)
  let total = 0
  const cap = scope.answer.page()
  while (level.length > 0) {
    const ofFiles = level.filter(({ step }) => isOfFiles(step))
    if (ofFiles.length > 0) total += await fillAttachments(scope, baseId, ofFiles, cap)
    level = level.filter(({ step }) => !isOfFiles(step))
    const { rows, isCut } = await readLevel(scope, baseId, level, policySql, cap)
    if (isCut || !(await hasRoomForRepeated(level, rows, cap))) throw tooManyBytes()
    total += rows.reduce((sum, { n }) => sum + (level[n - 1]?.times ?? 0), 0)
    if (total > LIMITS.expandedInAll) throw tooMuch()
    level = fill(level, rows, await titlesIn(scope, baseId, level, rows))
  }
  return roots.map(({ expansion }) => expansion)
}

function treeOf(paths: readonly (readonly ExpandStep[])[]): Tree {
  const tree: Tree = new Map()
  for (const path of paths) {
    let at = tree
    for (const step of path) {
      const name = `${step.incoming ? '~' : ''}${step.relType}`
      const known = at.get(name) ?? { step, below: new Map() }
      if (known.step.asTitle !== step.asTitle) throw bothWays(name)
      at.set(name, known)
      at = known.below
    }
  }
  return tree
}

/** Creates the empty lists of a record, one per step of the tree. */
function openLists(key: Key, tree: Tree, times: number): { expansion: Expansion; lists: List[] } {
  const expansion: Expansion = { _expanded: {} }
  const lists = [...tree].map(([name, { step, below }]) => {
    expansion._expanded[name] = []
    return { ...key, name, step, below, of: expansion, times }
  })
  return { expansion, lists }
}

async function readLevel(
  scope: Scope,
  baseId: string,
  lists: readonly List[],
  policySql: PolicySql | null,
  cap: RowCap,
): Promise<CappedRows<Row>> {
  const values = [
    baseId,
    lists.map(({ recordType }) => recordType),
    lists.map(({ id }) => id),
    lists.map(({ step }) => step.relType),
    lists.map(({ step }) => step.incoming),
    namedTypes(rightsOf(scope), 'read', baseId),
    lists.map(({ step }) => step.asTitle),
  ]
  if (!policySql) return scope.db.queryCapped<Row>(EXPAND, values, cap, scope.closed)
  const within = expandWithin(policySql, values)
  return scope.db.queryCapped<Row>(shaped(within.text), within.values, cap, scope.closed)
}

/** A record with several occurrences is read once but serialized each time, so count its bytes each time. */
async function hasRoomForRepeated(
  lists: readonly List[],
  rows: readonly Row[],
  cap: RowCap,
): Promise<boolean> {
  for (const { n, data } of rows) {
    const again = (lists[n - 1]?.times ?? 1) - 1
    if (again < 1) continue
    if (turnIsOver()) await nextTurn()
    if (!cap.take(again * JSON.stringify(data).length)) return false
  }
  return true
}

/**
 * Fills the lists with the rows. Returns the lists of the next level. A record in several lists is expanded
 * once.
 */
function fill(lists: readonly List[], rows: readonly Row[], titles: Titles): List[] {
  const found = new Map<Tree, Map<string, { record: object; lists: List[] }>>()
  const byList = Map.groupBy(rows, ({ n }) => n)
  for (const [i, list] of lists.entries()) {
    const all = (byList.get(i + 1) ?? []).sort((a, b) => Number(a.far) - Number(b.far))
    const shown = all.slice(0, LIMITS.expandedOfOne)
    if (all.length > shown.length)
      list.of._expanded_truncated = [...(list.of._expanded_truncated ?? []), list.name]
    const known = found.get(list.below) ?? new Map()
    found.set(list.below, known)
    list.of._expanded[list.name] = shown.map((row) => {
      const linked =
        known.get(row.far) ?? (list.step.asTitle ? titled(row, titles) : openRecord(row, list.below))
      known.set(row.far, linked)
      for (const below of linked.lists) below.times += list.times
      return { relationship: toRelationshipView(linkOf(row)), record: linked.record }
    })
  }
  return [...found.values()].flatMap((known) => [...known.values()].flatMap((linked) => linked.lists))
}

/** Titles of records, by row number. */
type Titles = ReadonlyMap<string, string | null>

/** Reads the titles for the lists that show these in place of records. */
async function titlesIn(
  scope: Scope,
  baseId: string,
  lists: readonly List[],
  rows: readonly Row[],
): Promise<Titles> {
  const asked = new Map(rows.filter(({ n }) => lists[n - 1]?.step.asTitle).map((row) => [row.far, row]))
  const records = [...asked.values()]
  const titles = scope.policy
    ? await Promise.all(
        records.map(async ({ record_type, data }) =>
          titleIn(data, (await findType(scope, baseId, record_type))?.title),
        ),
      )
    : await titlesOf(
        scope,
        baseId,
        records.map(({ record_type: recordType, id }) => ({ kind: 'record', recordType, id })),
      )
  return new Map(records.map(({ far }, n) => [far, titles[n] ?? null]))
}

const titled = ({ id, record_type, far }: Row, titles: Titles) => ({
  record: { id, record_type, title: titles.get(far) ?? null },
  lists: [],
})

function openRecord(row: Row, below: Tree) {
  const record = toView(row.record_type, row)
  if (below.size === 0) return { record, lists: [] }
  const { expansion, lists } = openLists({ recordType: row.record_type, id: row.id }, below, 0)
  return { record: Object.assign(record, expansion), lists }
}

/** Fills lists with attachments and returns how many the response shows. */
async function fillAttachments(
  scope: Scope,
  baseId: string,
  lists: readonly List[],
  cap: RowCap,
): Promise<number> {
  const found = await attachmentsOf(scope, baseId, lists, cap)
  if (!found) throw tooManyBytes()
  let total = 0
  for (const [at, list] of lists.entries()) {
    const all = found[at] ?? []
    const shown = all.slice(0, LIMITS.expandedOfOne)
    if (all.length > shown.length)
      list.of._expanded_truncated = [...(list.of._expanded_truncated ?? []), list.name]
    list.of._expanded[list.name] = shown
    total += shown.length * list.times
  }
  if (total > LIMITS.expandedInAll) throw tooMuch()
  return total
}

const bothWays = (name: string) =>
  invalid({
    path: '/expand',
    code: 'exclusive',
    message: `expand names "${name}" with and without ":title". Ask for the records or for their titles.`,
  })

const endsThere = () =>
  invalid({
    path: '/expand',
    code: 'invalid_expand',
    message: `"${ATTACHMENTS_STEP}" must be the last step of a path of expand, without ":title". Leave out what follows it.`,
  })

const tooManyBytes = () =>
  invalid({
    path: '/expand',
    code: 'too_large',
    message:
      'The related records of this page exceed the size of a response. Send a smaller limit or expand fewer levels, or list them with `related`.',
  })

const tooMuch = () =>
  invalid({
    path: '/expand',
    code: 'too_large',
    message: `expand shows at most ${LIMITS.expandedInAll} related records in one answer. Ask for a smaller page or fewer levels.`,
    expected: LIMITS.expandedInAll,
  })
