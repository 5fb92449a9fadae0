/** Commands of actions and their runs. */
import { configuration } from '../command/configuration.ts'
import { description, json, name, paging, query, writing } from '../command/options.ts'

export const action = configuration('/:base_id/actions', {
  summary: 'Actions: named steps that run in one transaction',
  label: 'an action',
  columns: ['id', 'name', 'description', 'version'],
  fields: [
    name,
    description,
    json('--input-schema <json>', 'input_schema', 'the JSON Schema of the input (default: any object)'),
    json('--steps <json>', 'steps', 'what a run does: operations of a batch, query and http'),
    json('--output <json>', 'output', 'what a run answers: JSON with templates'),
  ],
  removes: 'an action and its log of runs',
  more: [
    {
      name: 'run',
      summary: 'Run an action: all of its steps, or nothing',
      method: 'POST',
      path: '/:base_id/actions/:id/run',
      options: [json('--input <json>', 'input', 'the input (default: {})'), ...writing],
    },
    {
      name: 'runs',
      summary: 'List the runs of an action, newest first',
      method: 'GET',
      path: '/:base_id/actions/:id/runs',
      options: [query('--status <status>', 'status', 'succeeded or failed'), ...paging],
      columns: ['id', 'status', 'duration_ms', 'created_at', 'error'],
    },
    {
      name: 'get-run',
      summary: 'Show a run of an action',
      method: 'GET',
      path: '/:base_id/actions/:id/runs/:run_id',
      options: [],
    },
  ],
})
