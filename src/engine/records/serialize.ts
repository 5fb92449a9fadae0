import { nextTurn, turnIsOver } from '../../foundation/turns.ts'
import { JsonRows } from '../../json/rows.ts'
import { type Projection, project, projectData } from '../query/projection.ts'
import type { Expansion } from '../record-store/expansion.ts'
import { type RecordItem, type RecordRow, toRecord, toView, toViewText } from '../record-store/record.ts'

/** A row of a list, with its search score. Outside a transaction, its data is JSON text. */
export type ListedRow = RecordRow & { score?: number }

/**
 * Serializes rows for REST and MCP. Unprojected rows stay JSON text: parsing them would be half of the work
 * of a list.
 */
export function asRows(
  recordType: string,
  rows: readonly ListedRow[],
  projection: Projection | null,
  expansions: readonly Expansion[],
): JsonRows | Promise<object[]> {
  const areText = rows.every(({ data }) => typeof data === 'string')
  if (areText && projection === null && expansions.length === 0)
    return new JsonRows(rows.map((row) => toViewText(recordType, row)))
  return asObjects(recordType, rows, projection, expansions)
}

async function asObjects(
  recordType: string,
  rows: readonly ListedRow[],
  projection: Projection | null,
  expansions: readonly Expansion[],
): Promise<object[]> {
  const objects: object[] = []
  for (const [i, row] of rows.entries()) {
    if (turnIsOver()) await nextTurn()
    const view = toView(recordType, parsed(row))
    objects.push(Object.assign(projection ? project(view, projection) : view, expansions[i]))
  }
  return objects
}

/** Converts a row to the GraphQL format. */
export function asItem(
  recordType: string,
  row: ListedRow,
  projection: Projection | null,
  expansion?: Expansion,
): RecordItem {
  const record = { ...toRecord(recordType, parsed(row)), searchScore: row.score ?? null, expansion }
  if (!projection || projection.names.has('data')) return record
  return { ...record, data: projectData(record.data, projection.paths) ?? {} }
}

const parsed = (row: ListedRow): ListedRow =>
  typeof row.data === 'string' ? { ...row, data: JSON.parse(row.data) } : row
