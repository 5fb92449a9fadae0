/** The check of the backups that the server makes. */
import { LIMITS } from '../../../foundation/limits.ts'
import type { BackupHealth } from '../../core/scope.ts'
import { error, type Found, ok, roomOn, warning } from './found.ts'

const HOUR_MS = 3_600_000
const NONE = 'This server makes no backups. Set PLINTH_BACKUP_URL, or back it up with tools of your own.'

export function backupCheck(health: BackupHealth | undefined): Found {
  if (!health) return ok(NONE)
  const { state, last_at: last, wal_to: until, everyHours, cause } = health
  if (state === 'held')
    return ok('A restored copy makes no backups until "plinth deliveries resume" releases it.')
  if (state === 'stopped')
    return error(
      'The disk of the data is nearly full, so nothing more can be restored from. Free space: a new backup is then made.',
    )
  const why = cause === undefined ? '' : ` The last failure: ${cause}`
  if (last === null)
    return cause === undefined
      ? ok('The first backup is being made.')
      : error(`There is no backup yet.${why}`)
  // Until the first look of this process, the archive has no moment.
  const missing = until === null ? 0 : Date.now() - Date.parse(until)
  if (missing > LIMITS.archiveLagMs)
    return error(
      `What was written in the last ${Math.round(missing / 60_000)} minutes cannot be restored. See that PLINTH_BACKUP_URL can be written.${why}`,
    )
  if (Date.now() - Date.parse(last) > 2 * everyHours * HOUR_MS)
    return error(`The newest backup is of ${last}, which is two intervals ago.${why}`)
  if (state === 'failing')
    return warning(`PLINTH_BACKUP_URL cannot be written. It is tried again, and nothing is lost yet.${why}`)
  // A backup that is newer than the archive is restored to its own end.
  const end = until !== null && until > last ? until : last
  return roomAt(health, `The newest backup is of ${last}, and what was written until ${end} can be restored`)
}

function roomAt({ room, isOnDiskOfData }: BackupHealth, words: string): Found {
  if (isOnDiskOfData)
    return warning(
      `${words}, but backups are on the disk of the data: what destroys it destroys both. Name another in PLINTH_BACKUP_URL, or mount it.`,
    )
  if (!room) return ok(`${words}.`)
  const { status, left } = roomOn(room)
  return status === 'ok'
    ? ok(`${words}. ${left} there.`)
    : { status, message: `Only ${left} in the place of backups. Free space, or lower PLINTH_BACKUP_DAYS.` }
}
