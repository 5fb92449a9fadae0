import { unknownName } from '../../../contract/suggest.ts'
import type { Detail } from '../../../foundation/errors.ts'
import { type Kind, type Loaded, type Named, nounOf } from './kind.ts'

/** Finds references to absent resources. */
export async function unknownReferences<F extends object>(
  kind: Kind<F>,
  loaded: Loaded,
  fields: F,
): Promise<Detail[]> {
  const faults: Detail[] = []
  for (const { kind: named, id, at, instead } of kind.references?.(fields) ?? []) {
    const known = await loaded.ids(named)
    if (!known.includes(id)) faults.push(unknownReference(named, id, at, known, instead))
  }
  return faults
}

/** The fault of a reference to an absent resource. */
const unknownReference = (
  kind: Named,
  id: string,
  path: string,
  known: readonly string[],
  instead?: string,
): Detail => ({
  path,
  code: kind.codes.unknown ?? kind.codes.notFound,
  message: `There is no ${nounOf(kind)} "${id.slice(0, 64)}". Create it first${instead === undefined ? '' : `, or ${instead}`}.`,
  ...unknownName(id, known),
})
