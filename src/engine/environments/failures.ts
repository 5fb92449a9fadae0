/** Says which resource a failure of edits is about, and what to send next: the hints of a PUT of one resource do not apply. */
import { listName } from '../../contract/config-shapes.ts'
import { advised } from '../../foundation/advised-requests.ts'
import { type Detail, DomainError, oneFault, withPaths } from '../../foundation/errors.ts'
import { KINDS } from '../configuration/kinds.ts'
import { type Kind, nounOf } from '../configuration/lifecycle/kind.ts'
import type { Edit } from './edits.ts'

type Resource = Pick<Edit, 'kind' | 'id'>

/** Says which resource a failure of a promotion is about. */
export const atResource = (thrown: unknown, edit: Resource): unknown =>
  located(thrown, edit, {
    data: 'Change these in production so that they fit, or change the preview, and promote again.',
    held: { message: 'Send force to delete them too.', hint: '"force": true' },
  })

/** The same for a promotion of named resources: what they refer to can be in the preview only. */
export const atNamed = (thrown: unknown, edit: Resource): unknown =>
  withHints(
    atResource(thrown, edit),
    (detail) => kindMissing(detail) !== undefined && detail.received !== undefined,
    (detail) => {
      const resource = JSON.stringify({ kind: kindMissing(detail)?.name, id: detail.received })
      return `If the preview has it, add ${resource} to "resources".`
    },
  )

const kindMissing = ({ code }: Detail) => KINDS.find(({ codes }) => codes.unknown === code)

/** Says which resource a failure of a rollback is about. */
export const atUndone = (thrown: unknown, edit: Resource): unknown =>
  located(thrown, edit, {
    data: 'Change these in production so that they fit, and roll back again.',
    held: { message: 'A rollback deletes none of them. Delete them first.' },
  })

type Advice = { readonly data: string; readonly held: { readonly message: string; readonly hint?: string } }

function located(thrown: unknown, { kind, id }: Resource, { data, held }: Advice): unknown {
  const path = `/${kind.name}/${id}`
  if (thrown instanceof DomainError && thrown.details.some(({ code }) => code === 'confirm_required')) {
    const message = `In production, the ${nounOf(kind)} "${id}" has records or relationships. ${held.message}`
    return oneFault('CONFLICT', message, { path, code: 'force_required', ...held, message })
  }
  const hint = ({ code }: Detail) =>
    code === 'records_invalid'
      ? `${data} "migration": { "${id}": [ … ] } repairs records in the same transaction.`
      : data
  return withHints(
    withPaths(thrown, (inner) => `${path}${inner}`),
    isOfData,
    hint,
  )
}

const isOfData = ({ code }: Detail) => code === 'records_invalid' || code === 'relationships_invalid'

/** Says where in a config file the resource is that a failure is about. */
export const atPlace = (thrown: unknown, place: string): unknown =>
  withHints(
    withPaths(thrown, (path) => `${place}${path}`),
    (detail) => isOfData(detail) && /\/(json|data)_schema$/.test(detail.path),
    ({ code }) =>
      code === 'records_invalid'
        ? `Change these records so that they fit. Or change the type alone first: ${advised('put_record_type')} takes on_invalid=allow or a migration.`
        : `Change these relationships so that they fit. Or change the type alone first: ${advised('put_relationship_type')} takes on_invalid=allow.`,
  )

/** The same of a resource that a list of the file does not have. */
export const atList = (thrown: unknown, { name }: Kind): unknown =>
  withPaths(thrown, () => `/${listName(name)}`)

/** Replaces hints that name options of a PUT of one resource. */
function withHints(
  thrown: unknown,
  isMeant: (detail: Detail) => boolean,
  hint: (detail: Detail) => string,
): unknown {
  if (!(thrown instanceof DomainError) || !thrown.details.some(isMeant)) return thrown
  const details = thrown.details.map((detail) =>
    isMeant(detail) ? { ...detail, hint: hint(detail) } : detail,
  )
  return new DomainError(thrown.code, thrown.message, { details, cause: thrown })
}
