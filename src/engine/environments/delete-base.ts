/** Deletes bases. A token that may be paused deletes change-sets at its pace. */
import { deleteBase as remove } from '../configuration/bases/index.ts'
import { isChangeSet } from '../core/change-set/change-set-scope.ts'
import { pacedStep } from './change-sets/pace.ts'

/** Deletes a base with its content and its previews, or a change-set with its drafts. */
export const deleteBase: typeof remove = async (scope, id, confirm, expected) =>
  (await isChangeSet(scope, id))
    ? pacedStep(scope, id, (within) => remove(within, id, confirm, expected))
    : remove(scope, id, confirm, expected)
