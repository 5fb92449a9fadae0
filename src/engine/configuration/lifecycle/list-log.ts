import { invalid } from '../../../foundation/errors.ts'
import { type Dated, type NewestTable, readNewest } from '../../core/created-at-page.ts'
import type { Page, PageArgs } from '../../core/page.ts'
import type { ResourceAddress, Stored } from './kind.ts'
import { get, rightsTo } from './read.ts'

/** What happened to a resource, a row for each event: such as the deliveries of a trigger. */
type Log<Row, Shown> = {
  /** Names the list in cursors. */
  readonly name: string
  readonly statuses: readonly string[]
  readonly table: NewestTable<Row>
  /** Condition for the rows of the resource. */
  readonly where: object
  show(row: Row): Shown
}

export type LogArgs = PageArgs & { readonly status?: string | null | undefined }

/**
 * Lists the log of a resource, newest first, with one status or with any.
 * @throws FORBIDDEN; NOT_FOUND; VALIDATION_ERROR
 */
export async function listLog<
  F extends object,
  R extends Stored,
  Row extends Dated,
  Shown extends { id: string; createdAt: string },
>(
  address: ResourceAddress<F, R>,
  args: LogArgs,
  { name, statuses, table, where, show }: Log<Row, Shown>,
): Promise<Page<Shown>> {
  const { kind, scope, baseId, id } = address
  rightsTo(kind).read(scope, baseId, id)
  const status = readStatus(args.status, statuses)
  const page = readNewest(scope, `${name} of ${baseId}/${id} ${status ?? ''}`, args)
  const [rows, total] = await page.find(table, { ...where, ...(status && { status }) })
  if (rows.length === 0) await get(address)
  return page.of(rows.map(show), total)
}

function readStatus(status: string | null | undefined, statuses: readonly string[]): string | undefined {
  if (status == null || statuses.includes(status)) return status ?? undefined
  throw invalid({
    path: '/status',
    code: 'enum',
    message: 'status must be one of the allowed values.',
    received: status.slice(0, 64),
    allowed: statuses,
  })
}
