import { withPaths } from '../../../foundation/errors.ts'
import { define, put, remove, type View } from '../../configuration/lifecycle/index.ts'
import type { WriteScope } from '../../core/write/write.ts'
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

type Done = Pick<Outcome, 'operation' | 'version' | 'warnings'>

async function run(scope: WriteScope, baseId: string, operation: ConfigurationOperation): Promise<Done> {
  const { kind, id, expected } = operation
  const target = { kind, scope, baseId, id }
  if ('input' in operation)
    return doneBy(await put(target, operation.input, { ...operation.repair, expected }))
  if ('merge' in operation)
    return doneBy(await define(target, operation.merge, { ...operation.repair, expected }))
  const { version } = await remove(target, { confirm: operation.confirm, expected })
  return { operation: 'deleted', version }
}

const doneBy = ({ operation = 'unchanged', version, warnings }: View): Done => ({
  operation,
  version,
  ...(warnings?.length && { warnings }),
})

/** Moves error paths from the REST body to `body` of the operation. */
function belowBody(thrown: unknown): unknown {
  const isOwn = (path: string) => path === '' || /^\/(id|confirm)$/.test(path)
  return withPaths(thrown, (path) => (isOwn(path) ? path : `/body${path}`))
}
