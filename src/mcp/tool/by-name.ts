import { camelFields } from '../../contract/field-names.ts'
import { omitUndefined } from '../../foundation/omit-undefined.ts'

type Named = { base_id: string; expected_version?: number | undefined }

/** The arguments of a call as variables of GraphQL, by their names: `base` for `base_id`, without those that were not sent. */
export const byName = <Args extends object>({
  base_id: base,
  expected_version: version,
  ...args
}: Named & Args) => ({
  base,
  ...camelFields(omitUndefined(args)),
  ...(version !== undefined && { expectedVersions: [version] }),
})
