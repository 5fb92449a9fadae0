/** Checks the rows of a seed against the types of its base. */
import { SeedBody, type SeedRecord, type SeedRelationship } from '../../../contract/seed-shapes.ts'
import { type Detail, DomainError, withPaths } from '../../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { dataText, readPair } from '../../data/ledger/record.ts'
import type { RelationshipType as RelationshipRow, Seed as Row } from '../../prisma/client.ts'
import { isAmong } from '../../schema/compiled-types/compiled-relationship-type.ts'
import type { CompiledType } from '../../schema/compiled-types/compiled-type.ts'
import type { FieldsOf, Kind, Loaded } from '../lifecycle/kind.ts'
import { typeIn } from '../record-types/index.ts'
import { RECORD_TYPE_NAMES } from '../record-types/not-found.ts'
import { linkSchemaOf, RELATIONSHIP_TYPE } from '../relationship-types/index.ts'

/** What a seed declares. */
export type SeedRows = {
  readonly records: readonly SeedRecord[]
  readonly relationships: readonly SeedRelationship[]
}
type End = SeedRelationship['source']

/** Identity of a record in its seed. */
export const endKey = ({ record_type, external_id }: End): string => `${record_type}\n${external_id}`
/** Identity of a relationship in its seed. */
export const linkKey = ({ rel_type, source, target }: Omit<SeedRelationship, 'data'>): string =>
  [rel_type, endKey(source), endKey(target)].join('\n')

/**
 * The faults of the rows, each at its place in the seed. Types that are absent are faults of its references. Stops when there are more than
 * an error lists.
 */
export async function rowFaults(loaded: Loaded, rows: SeedRows): Promise<Detail[]> {
  if (JSON.stringify(rows).length > LIMITS.seedChars) return [tooLarge]
  const faults: Detail[] = []
  for (const found of [recordFaults(loaded, rows), linkFaults(loaded, rows)])
    for await (const fault of found) if (faults.push(fault) > LIMITS.errorDetails) return faults
  return faults
}

async function* recordFaults(loaded: Loaded, { records }: SeedRows) {
  const { scope } = loaded
  const types = new Map<string, CompiledType>()
  for (const id of new Set(records.map(({ record_type }) => record_type))) {
    const type = await typeIn(loaded, id)
    if (type) types.set(id, type)
  }
  const seen = new Set<string>()
  for (const [n, record] of records.entries()) {
    if (turnIsOver()) await nextTurn()
    const at = `/records/${n}`
    const { record_type, external_id } = record
    if (seen.has(endKey(record))) yield duplicate(`${at}/external_id`, external_id)
    seen.add(endKey(record))
    const type = types.get(record_type)
    yield* refusals(at, () => {
      readPair({ externalId: external_id })
      dataText(record.data, scope.limits.recordBytes)
      return type ? dataFaults(scope, type, record.data) : []
    })
  }
}

/** The faults of the data as it would be stored, with its defaults. */
function dataFaults({ checks, limits }: WriteScope, { schema }: CompiledType, data: unknown): Detail[] {
  const whole = schema.fill ? schema.fill(data, limits.recordBytes, checks) : data
  return schema.validate(whole, '/data', checks)
}

async function* linkFaults(loaded: Loaded, { records, relationships }: SeedRows) {
  if (relationships.length === 0) return
  const types = await loaded.rows(RELATIONSHIP_TYPE, [
    ...new Set(relationships.map(({ rel_type }) => rel_type)),
  ])
  const declared = new Set(records.map(endKey))
  const seen = new Set<string>()
  for (const [n, link] of relationships.entries()) {
    if (turnIsOver()) await nextTurn()
    const at = `/relationships/${n}`
    if (seen.has(linkKey(link))) yield duplicate(at, link.rel_type)
    seen.add(linkKey(link))
    for (const side of ['source', 'target'] as const)
      if (!declared.has(endKey(link[side]))) yield undeclared(`${at}/${side}`, link[side])
    const type = types.get(link.rel_type)
    if (type) yield* refusals(at, () => contentFaults(loaded.scope, type, link))
  }
}

function contentFaults(scope: WriteScope, type: RelationshipRow, link: SeedRelationship): Detail[] {
  const { source, target, data = {} } = link
  dataText(data, scope.limits.recordBytes)
  return [
    ...endFault('source', source, type.sourceRecordTypes),
    ...endFault('target', target, type.targetRecordTypes),
    ...linkSchemaOf(type).validate(data, '/data', scope.checks),
  ]
}

const endFault = (side: 'source' | 'target', { record_type }: End, allowed: readonly string[]): Detail[] =>
  isAmong(record_type, allowed)
    ? []
    : [
        {
          path: `/${side}/record_type`,
          code: 'end_not_allowed',
          message: `Links of this type cannot have a ${side} of type "${record_type.slice(0, 64)}".`,
          received: record_type.slice(0, 64),
          allowed,
        },
      ]

/** The faults that the work returns, or throws. */
function refusals(at: string, work: () => Detail[]): Detail[] {
  try {
    return work().map((detail) => ({ ...detail, path: `${at}${detail.path}` }))
  } catch (thrown) {
    const fault = withPaths(thrown, (path) => `${at}${path}`)
    if (!(fault instanceof DomainError)) throw thrown
    return [...fault.details]
  }
}

const tooLarge: Detail = {
  path: '/records',
  code: 'too_large',
  message: `A seed has at most ${LIMITS.seedChars} characters of rows as JSON. Divide it into several.`,
  expected: LIMITS.seedChars,
}

const duplicate = (path: string, received: string): Detail => ({
  path,
  code: 'duplicate',
  message: 'The seed declares this row already. Keep one of them.',
  received: received.slice(0, 64),
})

const undeclared = (path: string, { record_type, external_id }: End): Detail => ({
  path,
  code: 'unknown_record',
  message: `The seed declares no record "${external_id.slice(0, 64)}" of type "${record_type.slice(0, 64)}". Add it to records.`,
})

/** The types that rows of a seed name, each at the first of them. */
function typesNamed({ records, relationships }: SeedRows) {
  const named = [
    ...records.map(({ record_type: id }, n) => ({
      kind: RECORD_TYPE_NAMES,
      id,
      at: `/records/${n}/record_type`,
    })),
    ...relationships.map(({ rel_type: id }, n) => ({
      ...{ kind: RELATIONSHIP_TYPE, id, at: `/relationships/${n}/rel_type` },
    })),
  ]
  return [...Map.groupBy(named, ({ kind, id }) => `${kind.name} ${id}`).values()].flatMap(
    ([first]) => first ?? [],
  )
}

type Fields = FieldsOf<typeof SeedBody>

/** Seeds: records and relationships that a preview can be filled with, and returned to. */
export const SEED: Kind<Fields, Row> = {
  name: 'seed',
  label: 'a seed',
  codes: { notFound: 'seed_not_found' },
  body: SeedBody,
  isPreviewOnly: true,
  defaults: (id) => ({ name: id, description: null, records: [], relationships: [] }),
  table: ({ orm }) => orm.seed,
  references: typesNamed,
  check: async (loaded, { next, options }) => ({
    faults: options.leavesReferences ? [] : await rowFaults(loaded, next),
  }),
}
