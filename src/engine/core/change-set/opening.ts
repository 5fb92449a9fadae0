/** How a change-set is opened by its first write, in the transaction of that write. */
import type { Db } from '../../storage/database/client.ts'

/** Logs the opening of a change-set; or takes it back, where nothing was written. */
export type Settle = (isWritten: boolean) => Promise<void>

export type Opening = {
  /** Whether it is there. */
  isOpen: boolean
  /** Opens it in a transaction, which settles it before its end; undefined if another one has opened it. */
  open(tx: Db): Promise<Settle | undefined>
}
