/** Faults of a field of a mapping: its path and its dates. */
import type { FieldMapping } from '../../../contract/mapping-shapes.ts'
import type { Detail } from '../../../foundation/errors.ts'

/** The faults of a field of a mapping. `faultsOf` checks its path. */
export async function fieldFaults(
  field: FieldMapping,
  at: string,
  faultsOf: (path: string, at: string) => Detail[],
): Promise<Detail[]> {
  if (typeof field === 'string') return faultsOf(field, at)
  const { path, date_format: dateFormat, values } = field
  const faults = faultsOf(path, `${at}/path`)
  if (dateFormat === undefined) return faults
  // The library of dates is loaded when a mapping first needs it.
  const { isDateFormat } = await import('./dates.ts')
  if (!isDateFormat(dateFormat))
    faults.push({
      path: `${at}/date_format`,
      code: 'invalid_date_format',
      message: 'Write it as a Unicode pattern such as "dd.MM.yyyy HH:mm", or "iso", "unix" or "unix_ms".',
      received: dateFormat,
    })
  if (values !== undefined)
    faults.push({
      path: `${at}/values`,
      code: 'exclusive',
      message: 'values and date_format cannot be combined. Leave one of them out.',
    })
  return faults
}
