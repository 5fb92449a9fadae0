/** Commands of actions and their runs. */
import { configuration } from '../command/configuration.ts'
import { commandOf } from '../command/operations.ts'

export const action = configuration('actions', {
  summary: 'Actions: named steps that run in one transaction',
  columns: ['id', 'name', 'description', 'version'],
  says: {
    input_schema: 'the JSON Schema of the input (default: any object)',
    steps: 'what a run does: operations of a batch, query and http',
    output: 'what a run answers: JSON with templates',
  },
  more: [
    commandOf('actions.run', 'run', { says: { input: 'the input (default: {})' } }),
    commandOf('actionRuns.list', 'runs', {
      says: { status: '<status> succeeded or failed' },
      columns: ['id', 'status', 'duration_ms', 'created_at', 'error'],
    }),
    commandOf('actionRuns.get', 'get-run'),
  ],
})
