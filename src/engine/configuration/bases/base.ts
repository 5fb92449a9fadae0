/** Bases: containers of record types, records and configuration. */
import { ID_RULES, isBaseId, isProductionBaseId } from '../../../contract/ids.ts'
import { BaseBody } from '../../../contract/shapes.ts'
import type { Detail } from '../../../foundation/errors.ts'
import { missingBase } from '../../core/existing-base.ts'
import { requireKnownBase } from '../../storage/access/access.ts'
import { enqueue } from '../../storage/database/enqueue-job.ts'
import type { FieldsOf, Kind, View } from '../lifecycle/kind.ts'
import { deleteContentOf } from './delete-content.ts'
import { type BaseRow, baseTable, highestVersion, LOCK_BASE_ID } from './table.ts'

type Fields = FieldsOf<typeof BaseBody>
export type Base = View<Fields> & Pick<BaseRow, 'environment' | 'productionBase'>

const DEFAULT_SETTINGS = { schema_changes: 'direct', history_days: null, trash_days: 30 } as const

/** Bases. They share the lifecycle, and are not in `KINDS`: no base is part of the configuration of another. */
export const BASE: Kind<Fields, BaseRow> = {
  name: 'base',
  label: 'a base',
  codes: { notFound: 'base_not_found' },
  body: BaseBody,
  ids: { isValid: isBaseId, rule: ID_RULES.base },
  defaults: (id) => ({ name: id, description: null, settings: DEFAULT_SETTINGS }),
  normalize: (fields) => ({ ...fields, settings: { ...DEFAULT_SETTINGS, ...fields.settings } }),
  table: baseTable,
  rights: { read: (scope, id) => requireKnownBase(scope.access, id) },
  // Without the id of the base that it is in, because that is its own.
  logged: ({ environment, productionBase }) => ({ baseId: undefined, environment, productionBase }),
  lock: ({ db }, id) => db.query(LOCK_BASE_ID, [id]),
  check: async (_loaded, { id, current }) => ({
    faults: current || isProductionBaseId(id) ? [] : [isPreview(id)],
    columns: () => (current ? {} : { environment: 'production' }),
  }),
  written: async ({ db }, { id, version, settings }) => {
    const { history_days: days } = settings as Fields['settings']
    if (version > 1 && days !== null) await enqueue(db, 'purge_history', { base: id }, `purge:${id}`)
  },
  beforeDelete: deleteContentOf,
  lastVersion: ({ db }, { id }) => highestVersion(db, id),
  topic: ({ id }) => `base:${id}`,
  hasOwnLog: true,
  missing: missingBase,
}

const isPreview = (received: string): Detail => ({
  path: '/id',
  code: 'invalid_id',
  message: 'A preview cannot be created by PUT. Create it from its base.',
  received,
})
