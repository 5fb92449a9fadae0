import { DomainError } from '../../../foundation/errors.ts'
import type { SeedRows } from '../../configuration/seeds/index.ts'

/** Moves a failure of an operation to the row of the seed that it writes. */
export function atRow(thrown: unknown, { records }: SeedRows): unknown {
  if (!(thrown instanceof DomainError)) return thrown
  const placeOf = (index: number) =>
    index < records.length ? `/records/${index}` : `/relationships/${index - records.length}`
  const details = thrown.details.map((detail) => ({
    ...detail,
    path: detail.path
      .replace(/^\/operations\/(\d+)/, (_, index: string) => placeOf(Number(index)))
      .replace(/_id$/, ''),
  }))
  const message = thrown.message.replace(/^Operation \d+: /, '')
  return new DomainError(thrown.code, message, { details, cause: thrown })
}
