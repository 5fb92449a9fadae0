/** The record types of a base, what they were, and what works with them. */
import { pathOf, useRead } from '../../api/queries.ts'
import type { Change, Json, Page, Schema, Step } from '../../api/shapes.ts'
import { applied, type Definition, type FieldRow, fieldRows, otherSteps } from '../../parts/schema.ts'

type Resource = { id: string; name?: string | null; [field: string]: Json | undefined }
export type LinkType = Resource & {
  source_record_types: string[]
  target_record_types: string[]
  cardinality: keyof typeof FEW
}
export const AUTOMATIC = ['triggers', 'inbound_webhooks', 'actions'] as const
const USERS = [...AUTOMATIC, 'endpoints', 'toolsets', 'seeds'] as const
export type Config = { relationship_types: LinkType[] } & Record<(typeof USERS)[number], Resource[]>

/** All that is defined beside the types, in one read. */
export const useConfig = (base: string) => useRead<Config>(pathOf([base, 'config']))

/** Whether each end of a link has at most one record at the other. */
export const FEW = {
  one_to_one: { source: true, target: true },
  one_to_many: { source: false, target: true },
  many_to_one: { source: true, target: false },
  many_to_many: { source: false, target: false },
}

/** What names the type, wherever it does: `*` is all types. */
export const usersOf = (config: Config, type: string) =>
  USERS.flatMap((list) =>
    config[list].filter((each) => names(each, type)).map(({ id, name }) => ({ list, id, name: name ?? id })),
  )

const names = (value: unknown, type: string): boolean =>
  typeof value === 'object' &&
  value !== null &&
  Object.entries(value).some(
    ([name, each]) =>
      (/^record_types?$/.test(name) && [each].flat().some((id) => id === type || id === '*')) ||
      names(each, type),
  )

export type Version = Pick<Change, 'version' | 'operation' | 'at' | 'actor' | 'request_id'> & { diff: Step[] }
/** A version, and what it changed: fields in words, the rest as it is. */
export type Story = Version & { rows: FieldRow[]; others: Step[] }

const OWN = /^\/(version|updated_at)$/

/** Told from the first version on, so that each knows what was before it; the newest first. */
export const useStory = (base: string, type: string) =>
  useRead<Page<Version>, Story[]>(pathOf([base, 'record-types', type, 'history'], { limit: 200 }), {
    select: ({ data }) => {
      let now: Definition | undefined
      return data
        .toReversed()
        .map((version): Story => {
          const before = now
          const isBegin = version.operation !== 'update'
          now = isBegin || before ? applied(before ?? {}, version.diff) : undefined
          const others = otherSteps(version.diff).filter(({ path }) => !OWN.test(path))
          return { ...version, rows: fieldRows(before, now), others }
        })
        .reverse()
    },
  })

/** The choices of the kind of a field, and the schema of each. */
export const KINDS = {
  text: { type: 'string' },
  choice: { type: 'string', enum: [] },
  number: { type: 'number' },
  integer: { type: 'integer' },
  boolean: { type: 'boolean' },
  date: { type: 'string', format: 'date' },
  time: { type: 'string', format: 'date-time' },
  list: { type: 'array', items: { type: 'string' } },
} as const satisfies Record<string, Schema>
export type Kind = keyof typeof KINDS

/** Undefined: a shape that only JSON can say, and that stays as it is. */
export function kindOf({ type, format, enum: values, items }: Schema): Kind | undefined {
  if (values) return values.every((value) => typeof value === 'string') ? 'choice' : undefined
  const found = Object.entries(KINDS).find(
    ([kind, schema]) =>
      schema.type === type &&
      ('format' in schema ? schema.format : undefined) === format &&
      (kind !== 'list' || (items?.type === 'string' && !items.enum)) &&
      kind !== 'choice',
  )
  return found?.[0] as Kind | undefined
}

/** `due_date` of "Due date": what programs call it. */
export const keyOf = (name: Json | undefined): string =>
  typeof name === 'string' ? name.trim().toLowerCase().replace(/\s+/g, '_') : ''
