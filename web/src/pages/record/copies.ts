/** The record for programs: as JSON, as a command, as an address. */
import { pathOf } from '../../api/send.ts'
import type { Row } from '../../api/shapes.ts'
import { curlOf } from '../../parts/copy-as.tsx'
import { words } from '../../words.ts'
import { type Place, recordPath } from './load.ts'

export const copiesOf = (place: Place, row: Row) => ({
  [words.copies.json]: JSON.stringify(row, null, 2),
  [words.copies.curl]: curlOf(pathOf(recordPath(place))),
  [words.copies.link]: location.href,
  [words.copies.id]: row.id,
})
