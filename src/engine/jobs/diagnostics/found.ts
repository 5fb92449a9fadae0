/** What a check of the diagnostics finds. */
import { LIMITS } from '../../../foundation/limits.ts'
import type { Disk } from '../../storage/blobs/blob-store.ts'

export type Status = 'ok' | 'warning' | 'error'
/** `message`: what was found, then what to do. */
export type Found = { readonly status: Status; readonly message: string }

export const ok = (message: string): Found => ({ status: 'ok', message })
export const warning = (message: string): Found => ({ status: 'warning', message })
export const error = (message: string): Found => ({ status: 'error', message })

const gibibytes = (bytes: number): string => (bytes / 1024 ** 3).toFixed(1)

/** Whether a disk has room, and the words for it. */
export function roomOn({ free, total }: Disk): { status: Status; left: string } {
  const isBelow = ({ share, bytes }: { share: number; bytes: number }) =>
    free < Math.min(total * share, bytes)
  const { lowDisk } = LIMITS
  return {
    status: isBelow(lowDisk.error) ? 'error' : isBelow(lowDisk.warning) ? 'warning' : 'ok',
    left: `${gibibytes(free)} of ${gibibytes(total)} GiB are free`,
  }
}
