/** The tool run_action: runs an action of the base. Endpoints offer actions as tools of their own. */
import { z } from 'zod'
import { trim } from '../../contract/response-bodies.ts'
import { staticOperation } from '../../graphql/execute.ts'
import { withProgress } from '../tool/progress.ts'
import { tool, writing } from '../tool/tool.ts'

const run = staticOperation(`mutation ToolRunAction($base: String!, $id: String!, $input: JSON) {
  done: runAction(base: $base, id: $id, input: $input) { run_id: runId status output steps dry_run: dryRun }
}`)

export const runActionTool = tool('run_action', {
  title: 'Run an action',
  description:
    'Run an action of the base: its steps in one transaction. configuration shows its input_schema, and the runs.',
  permission: 'write',
  ofWhole: 'read',
  // An action may have a step that sends a request.
  hints: { destructive: true, openWorld: true },
  isUnlisted: true,
  showsRecords: true,
  input: z.strictObject({
    id: z.string(),
    input: z.record(z.string(), z.unknown()).optional(),
    ...writing,
  }),
  run: async ({ base_id: base, id, input = {} }, context, caller) =>
    trim((await withProgress(caller, () => run({ base, id, input }, context))).done),
})
