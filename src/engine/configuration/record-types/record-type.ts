/** Record types as a kind of configuration. A change validates or migrates the records that exist. */
import { randomInt } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { RecordTypeBody } from '../../../contract/shapes.ts'
import { rightsOf } from '../../core/row-policy/apply.ts'
import type { WriteScope } from '../../core/write/write.ts'
import {
  copyIndexes,
  declaredIndex,
  declareIndexes,
  isSameIndex,
  type ResolvedIndex,
  resolvedIndex,
  shownIndex,
  syncIndexes,
} from '../../data/indexes/index.ts'
import { requireBaseAccess, requirePermission } from '../../storage/access/access.ts'
import { statement } from '../../storage/database/client.ts'
import { type Kind, ONE_MORE, type View } from '../lifecycle/kind.ts'
import { checkRecords } from './check-records.ts'
import { deleteRecordsOf, lockUnusedTypes } from './delete-records.ts'
import { type Dropped, droppedProperties } from './dropped-properties.ts'
import { type Fields, normalized, resolvedIndexes, warningsAbout } from './fields.ts'
import { chooseGraphqlName } from './graphql-name.ts'
import { checkFiltersFollow } from './left-behind-filters.ts'
import { lockRecords, type TypeToLock } from './lock-records.ts'
import { migrateDefinition, stepsWithoutProperty } from './migrate-definition.ts'
import { type MigrationStep, renamesOf, stepsOf, takenAway } from './migration.ts'
import { RECORD_TYPE_NAMES } from './not-found.ts'
import { choosePortableId } from './portable-id.ts'
import type { Precheck } from './precheck-records.ts'
import { warnOfPropertyReferences } from './property-references.ts'
import { typeOrBaseNotFound } from './read.ts'
import { sourceFaults } from './source-faults.ts'
import { indexesOf, recordTypeTable, type TypeRow } from './table.ts'
import { reconcile } from './validate-existing.ts'

export type RecordType = View<Fields>

const BUMP_TYPES = statement(
  'bump_types',
  'UPDATE plinth.base SET types_version = types_version + 1 WHERE id = $1',
)

/** Record types: schema, indexes and display of records. */
export const RECORD_TYPE: Kind<Fields, TypeRow> = {
  ...RECORD_TYPE_NAMES,
  body: RecordTypeBody,
  defaults: (id) => ({
    name: id,
    description: null,
    icon: null,
    color: null,
    jsonSchema: {},
    indexes: [],
    timezone: 'UTC',
    sources: [],
    display: {},
  }),
  table: recordTypeTable,
  rights: {
    list: (scope, baseId) => {
      // Types with a policy make the base visible, but their definitions stay hidden.
      requireBaseAccess(rightsOf(scope), baseId)
      const types = scope.access.types('read', baseId)
      return types === '*' ? {} : { id: { in: [...types] } }
    },
    read: (scope, baseId, id) => requirePermission(scope.access, 'read', baseId, id),
  },
  managedAs: (id) => id,
  normalize: normalized,
  fields: (row) => ({
    name: row.name,
    description: row.description,
    icon: row.icon,
    color: row.color,
    jsonSchema: row.jsonSchema as object,
    indexes: row.indexes.map(declaredIndex),
    timezone: row.timezone,
    sources: row.sources as Fields['sources'],
    display: row.display as object,
  }),
  sent: (sent, before, options, states) =>
    options.migrationBack === undefined ? migrateDefinition(sent, before, stepsOf(options), states) : sent,
  warnings: (before, next, options) => {
    const moved = takenAway(stepsOf(options))
    const dropped = droppedProperties(before?.jsonSchema, next.jsonSchema)
    return [
      ...dropped.filter(({ name }) => !moved.includes(name)).map(droppedWarning),
      ...warningsAbout(next),
    ]
  },
  logged: ({ portableId, graphqlName }) => ({ portableId, graphqlName }),
  // Build progress is not part of the definition.
  shown: ({ indexes }) => ({ indexes: indexes.map(shownIndex) }),
  parts: ['indexes'],
  check: async (loaded, { id, current, next, input, options }) => {
    const { scope } = loaded
    const { onInvalid = 'refuse', migrationBack, migration = migrationBack?.steps, found } = options
    const steps = stepsOf(options)
    let recordsRewritten = 0
    const { sources } = next
    const warnings = current
      ? await warnOfPropertyReferences(scope, { baseId: current.baseId, id, sources }, renamesOf(steps))
      : []
    const indexes = resolvedIndexes(next)
    // Declaring a failed index again retries its build.
    const isRetried =
      'indexes' in input && input.indexes !== undefined && (current?.indexes.some(hasFailed) ?? false)
    const stored = current?.indexes ?? []
    const isReindexed =
      isRetried ||
      stored.length !== indexes.length ||
      !stored.every((row, n) => isSameIndex(resolvedIndex(row), indexes[n] as ResolvedIndex))
    const isReshaped =
      current !== null && (steps.length > 0 || !isDeepStrictEqual(next.jsonSchema, current.jsonSchema))
    const toLock: TypeToLock | undefined =
      current && (isReindexed || isReshaped)
        ? {
            id,
            jsonSchema: next.jsonSchema,
            precheck: isReshaped ? (found as Precheck | undefined) : undefined,
          }
        : undefined
    return {
      faults: await sourceFaults(loaded, (current?.sources ?? []) as Fields['sources'], next.sources),
      ...(toLock && { toLock }),
      existing: async (isSettled) => {
        // Sync indexes first, so that a removed unique index does not reject a migrated record.
        if (current && isReindexed) await syncIndexes(scope.db, current, current.indexes, indexes)
        if (isReshaped && !isSettled)
          recordsRewritten = await reconcile(scope, current, next.jsonSchema, {
            ...{ onInvalid, steps, causes: migrationBack?.causes },
          })
      },
      ...(steps.length > 0 && {
        effect: () => ({
          recordsRewritten,
          warnings: [
            ...warnings,
            // A record may hold what no schema declares.
            ...(recordsRewritten > 0
              ? []
              : stepsWithoutProperty(current?.jsonSchema, next.jsonSchema, steps).map(vainStepWarning)),
          ],
        }),
        ...(current && { logged: { migration } }),
      }),
      isForced: isRetried,
      ...(isReshaped && {
        dependents: () =>
          checkFiltersFollow(
            scope,
            current,
            { before: current.jsonSchema, next: next.jsonSchema, steps },
            (kind, name) => loaded.written({ name: kind }).has(name),
          ),
      }),
      columns: async () =>
        current
          ? { revision: ONE_MORE }
          : {
              revision: firstRevision(),
              ...takeNames(await loaded.once(namesTaken), id, input),
            },
      parts: { isReindexed, indexes },
    }
  },
  storeParts: storeIndexes,
  withParts: (row, current, { isReindexed, indexes }: Parts) => ({
    ...row,
    indexes: isReindexed ? indexes.map((index, n) => unbuiltIndex(row, index, n)) : (current?.indexes ?? []),
  }),
  checkData: checkRecords,
  lockData: lockRecords,
  takesConfirm: true,
  lockUnused: lockUnusedTypes,
  beforeDelete: deleteRecordsOf,
  written: async ({ db }, { baseId }) => void (await db.query(BUMP_TYPES, [baseId])),
  copiedColumns: () => ({ revision: firstRevision() }),
  copyParts: copyIndexes,
  missing: typeOrBaseNotFound,
}

/** An index of a row as it is stored before its build. */
const unbuiltIndex = (
  { baseId, id }: TypeRow,
  { kind, fields }: ResolvedIndex,
  position: number,
): TypeRow['indexes'][number] => ({
  ...{
    kind,
    fields: fields as never,
    id: 0n,
    baseId,
    recordType: id,
    position,
    status: 'building',
    hasCut: false,
  },
  ...{ duplicates: null, builtTo: null, createdAt: new Date() },
})

type Parts = { readonly isReindexed: boolean; readonly indexes: readonly ResolvedIndex[] }

/** Declares the indexes of new types, and adds to each row those that it has. */
async function storeIndexes(
  { db }: WriteScope,
  baseId: string,
  stored: readonly { row: TypeRow; current: TypeRow | null; parts: Parts }[],
): Promise<TypeRow[]> {
  const made = stored.filter(({ current }) => current === null)
  await declareIndexes(
    db,
    baseId,
    made.map(({ row: { id }, parts: { indexes } }) => ({ id, indexes })),
  )
  const changed = stored.filter(({ parts }) => parts.isReindexed).map(({ row }) => row.id)
  const found = changed.length > 0 ? await indexesOf(db, baseId, changed) : []
  const byType = Map.groupBy(found, ({ recordType }) => recordType)
  return stored.map(({ row, current, parts }) => ({
    ...row,
    indexes: parts.isReindexed ? (byType.get(row.id) ?? []) : (current?.indexes ?? []),
  }))
}

/** Where the schema says that the property was renamed, a migration would have moved what records hold of it. */
const droppedWarning = ({ name, to }: Dropped): string =>
  to === undefined
    ? `The property "${name}" is no longer in json_schema. Records keep what they hold of it.`
    : `The property "${name}" is called "${to}" in json_schema now. Records keep what they hold of "${name}": a migration with the op "rename" moves it.`

const vainStepWarning = ({ op, field }: MigrationStep): string =>
  `The step "${op}" of the migration changed nothing: the type has no property "${field.join('.')}", and no record was rewritten. Check the name, unless the step is sent again.`

const hasFailed = ({ status }: TypeRow['indexes'][number]) => status === 'failed'

/**
 * Random start, so that a recreated type never has the revision of its predecessor: data validated against
 * the old type must not pass.
 */
const firstRevision = () => randomInt(2 ** 30)

/** The names of the types of a base for other systems: portable ids, and GraphQL names in lower case. */
type Taken = { readonly portableIds: Set<string>; readonly graphqlNames: Set<string> }

/**
 * Reuses the names from the log if they are free, so that tools and generated clients keep them when a deletion
 * is reverted. Adds them to those that are taken.
 */
function takeNames({ portableIds, graphqlNames }: Taken, id: string, state: object) {
  const former = state as { portableId?: unknown; graphqlName?: unknown }
  const isPortableTaken = (name: string) => portableIds.has(name)
  const isGraphqlTaken = (name: string) => graphqlNames.has(name.toLowerCase())
  const portableId = kept(former.portableId, isPortableTaken) ?? choosePortableId(id, isPortableTaken)
  const graphqlName = kept(former.graphqlName, isGraphqlTaken) ?? chooseGraphqlName(id, isGraphqlTaken)
  portableIds.add(portableId)
  graphqlNames.add(graphqlName.toLowerCase())
  return { portableId, graphqlName }
}

const kept = (name: unknown, isTaken: (name: string) => boolean): string | undefined =>
  typeof name === 'string' && !isTaken(name) ? name : undefined

const NAMES = statement(
  'type_names',
  'SELECT portable_id, lower(graphql_name) AS graphql_name FROM plinth.record_type WHERE base_id = $1',
)
async function namesTaken({ db }: WriteScope, baseId: string): Promise<Taken> {
  const rows = await db.query<{ portable_id: string; graphql_name: string }>(NAMES, [baseId])
  return {
    portableIds: new Set(rows.map(({ portable_id }) => portable_id)),
    graphqlNames: new Set(rows.map(({ graphql_name }) => graphql_name)),
  }
}
