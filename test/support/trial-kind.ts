import { z } from 'zod'
import { ACTION } from '../../src/engine/configuration/actions/index.ts'
import { KINDS } from '../../src/engine/configuration/kinds.ts'
import type { FieldsOf, Kind, Stored, Table } from '../../src/engine/configuration/lifecycle/kind.ts'
import { RECORD_TYPE } from '../../src/engine/configuration/record-types/record-type.ts'
import { type Db, statement } from '../../src/engine/storage/database/client.ts'
import type { TestDatabase } from './database.ts'

const Body = z.strictObject({
  name: z.string().optional(),
  record_type: z.string().optional(),
  secret: z
    .string()
    .regex(/^whsec_/)
    .nullable()
    .optional(),
})
type Fields = FieldsOf<typeof Body>
type Row = Fields & Stored

const COLUMNS = `base_id AS "baseId", id, name, record_type AS "recordType", secret, version,
  created_at AS "createdAt", updated_at AS "updatedAt"`
const FIND = statement(
  'trial_find',
  `SELECT ${COLUMNS} FROM plinth.action
   WHERE base_id = $1 AND ($2::text[] IS NULL OR id = ANY ($2)) AND ($3::text IS NULL OR id < $3)
   ORDER BY id DESC LIMIT $4`,
)
const CREATE = statement(
  'trial_create',
  `INSERT INTO plinth.action (base_id, id, version, name, record_type, secret)
   VALUES ($1, $2, $3, $4, $5, $6) RETURNING ${COLUMNS}`,
)
const UPDATE = statement(
  'trial_update',
  `UPDATE plinth.action SET name = $3, record_type = $4, secret = $5, version = version + 1, updated_at = now()
   WHERE base_id = $1 AND id = $2 RETURNING ${COLUMNS}`,
)
const DELETE = statement(
  'trial_delete',
  'DELETE FROM plinth.action WHERE base_id = $1 AND id = ANY ($2::text[])',
)

type Where = { baseId: string; id?: { in?: string[]; lt?: string } }
type Key = { where: { baseId_id: { baseId: string; id: string } } }

const tableOf = (db: Db): Table<Row> => {
  const write = async (made: ReturnType<typeof statement>, values: unknown[]): Promise<Row> =>
    (await db.query<Row>(made, values))[0] as Row
  return {
    findMany: ({ where, take }) => {
      const { baseId, id } = where as Where
      return db.query<Row>(FIND, [baseId, id?.in ?? null, id?.lt ?? null, take ?? null])
    },
    count: () => Promise.reject(new Error('The trial kind has no list.')),
    createOne: ({ data }: { data: Row }) =>
      write(CREATE, [data.baseId, data.id, data.version, data.name, data.recordType, data.secret]),
    updateOne: ({ where: { baseId_id: key }, data }: Key & { data: Fields }) =>
      write(UPDATE, [key.baseId, key.id, data.name, data.recordType, data.secret]),
    deleteMany: ({ where: { baseId, id } }) => db.query(DELETE, [baseId, id.in]),
  }
}

let made = 0

/**
 * A kind that the product does not have: a name, a reference to a record type, and a secret. It takes the place of
 * actions, because a config file has a list for each kind.
 */
const TRIAL: Kind<Fields, Row> = {
  name: 'action',
  label: 'an action',
  codes: { notFound: 'action_not_found' },
  body: Body,
  defaults: (id) => ({ name: id, recordType: '', secret: null }),
  secrets: { secret: () => `whsec_new${++made}` },
  references: ({ recordType: id }) => [{ kind: RECORD_TYPE, id, at: '/record_type' }],
  table: tableOf,
}

const kinds = KINDS as Kind[]

/** Puts the row of the trial kind in the place of that of actions. @returns a function that puts it back */
export function addTrialKind(): () => void {
  const place = kinds.indexOf(ACTION as Kind)
  kinds[place] = TRIAL as Kind
  return () => {
    kinds[place] = ACTION as Kind
  }
}

/** Creates the table of the trial kind, in the place of that of actions. */
export const createTrialTable = (database: TestDatabase) =>
  database.query(
    `ALTER TABLE plinth.action RENAME TO action_of_the_product;
     CREATE TABLE plinth.action (
       base_id text NOT NULL REFERENCES plinth.base ON DELETE CASCADE, id text NOT NULL, name text NOT NULL,
       record_type text NOT NULL, secret text NOT NULL, version integer NOT NULL,
       created_at timestamptz(3) NOT NULL DEFAULT now(), updated_at timestamptz(3) NOT NULL DEFAULT now(),
       PRIMARY KEY (base_id, id))`,
  )
