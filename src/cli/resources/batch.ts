import { commandOf } from '../command/operations.ts'
import { note, showRows } from '../command/print.ts'

type Done = { data: Record<string, unknown>[]; meta: { count: number } }

/** Command `plinth batch --operations @file`. */
export const batch = commandOf('batch.run', 'batch', {
  needsBody: true,
  says: {
    operations: 'a list of {"type":"upsert_record","record_type":…}',
    ask_first: 'only plan the batch if it deletes more than one resource',
  },
  show: ({ body }) => {
    const done = body as Done | Planned
    if (isPlanned(done)) return notePlan(done)
    const { data, meta } = done
    showRows(data, ['index', 'type', 'operation', 'id', 'version'])
    note(`${meta.count} done\n`)
  },
})

// Says what a deletion would do that waits for its plan to be approved.

type Planned = { plan: { what: string }; plan_token: string }

const isPlanned = (body: object): body is Planned => 'plan' in body

const notePlan = ({ plan, plan_token: token }: Planned): void =>
  note(`${plan.what} Nothing is deleted yet. To do it, pass only --plan-token ${token}\n`)
