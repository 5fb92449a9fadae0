import { withPaths } from '../../foundation/errors.ts'
import { put, remove } from '../configuration/lifecycle/index.ts'
import { RECORD_TYPE, requireType } from '../configuration/record-types/index.ts'
import { RELATIONSHIP_TYPE, requireRelationshipType } from '../configuration/relationship-types/index.ts'
import type { WriteScope } from '../write/write.ts'
import { ofOperation } from './failures.ts'
import type { ConfigurationOperation } from './operation.ts'
import type { Outcome } from './outcome.ts'

/** Runs one configuration operation in the caller's transaction. */
export async function runConfiguration(
  scope: WriteScope,
  baseId: string,
  operation: ConfigurationOperation,
): Promise<Outcome> {
  const { index, type, id } = operation
  const done = await ofOperation(index, () =>
    run(scope, baseId, operation).catch((thrown) => {
      throw type.startsWith('upsert') ? belowBody(thrown) : thrown
    }),
  )
  return { index, type, id, ...done, record: null }
}

type Done = Pick<Outcome, 'operation' | 'version'>

async function run(scope: WriteScope, baseId: string, operation: ConfigurationOperation): Promise<Done> {
  const { id, expected } = operation
  switch (operation.type) {
    case 'upsert_record_type': {
      const { input, migration, onInvalid } = operation
      return doneBy(
        await put({ kind: RECORD_TYPE, scope, baseId, id }, input, { expected, migration, onInvalid }),
      )
    }
    case 'upsert_relationship_type': {
      const { input, onInvalid } = operation
      return doneBy(await put({ kind: RELATIONSHIP_TYPE, scope, baseId, id }, input, { expected, onInvalid }))
    }
    case 'delete_record_type': {
      const { version } = await requireType(scope, baseId, id)
      await remove({ kind: RECORD_TYPE, scope, baseId, id }, { confirm: operation.confirm, expected })
      return { operation: 'deleted', version: version + 1 }
    }
    case 'delete_relationship_type': {
      const { version } = await requireRelationshipType(scope, baseId, id)
      await remove({ kind: RELATIONSHIP_TYPE, scope, baseId, id }, { confirm: operation.confirm, expected })
      return { operation: 'deleted', version: version + 1 }
    }
  }
}

const doneBy = ({
  operation = 'unchanged',
  version,
}: {
  operation?: Done['operation']
  version: number
}): Done => ({
  operation,
  version,
})

/** Moves error paths from the REST body to `body` of the operation. */
function belowBody(thrown: unknown): unknown {
  const isOwn = (path: string) => path === '' || /^\/(id|confirm)$/.test(path)
  return withPaths(thrown, (path) => (isOwn(path) ? path : `/body${path}`))
}
