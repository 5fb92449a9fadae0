import { misused } from '../command/failure.ts'
import type { Format } from './read-records.ts'

/** The format that a flag names, or the name of a file. */
export function formatOf(flag: string | undefined, file: string | undefined): Format {
  if (flag === 'csv' || flag === 'ndjson') return flag
  if (flag !== undefined) throw misused('--format must be ndjson or csv. A JSON array is read as ndjson.')
  return file?.toLowerCase().endsWith('.csv') ? 'csv' : 'ndjson'
}
