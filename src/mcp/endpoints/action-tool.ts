/** Actions as tools: their input schema as arguments, and their run as the call. */
import { z } from 'zod'
import { trim } from '../../contract/response-bodies.ts'
import { check, inBody } from '../../contract/validate.ts'
import { withPaths } from '../../foundation/errors.ts'
import { staticOperation } from '../../graphql/execute.ts'
import { clean } from '../../schema-shape/descriptions.ts'
import { projectInTurns } from '../../schema-shape/portable-schema.ts'
import { success } from '../protocol/result.ts'
import { decodeStringified } from '../tool/decode-arguments.ts'
import { withProgress } from '../tool/progress.ts'
import type { EndpointTool } from '../tool/tool-binding.ts'
import { asked } from '../tool/tool-call.ts'
import { definition } from '../tool/tool-definition.ts'
import { createInput, splitArguments } from '../tool/tool-inputs.ts'
import type { ServedAction } from './served-endpoint.ts'

const run = staticOperation(`mutation RunActionTool($base: String!, $id: String!, $input: JSON) {
  run: runAction(base: $base, id: $id, input: $input) { run_id: runId status output steps dry_run: dryRun }
}`)

const Options = z.strictObject({ idempotency_key: z.string().optional(), dry_run: z.boolean().optional() })

const OUTPUT = {
  type: 'object',
  properties: {
    run_id: { type: 'string' },
    status: { type: 'string' },
    output: {},
    steps: { type: 'array', items: { type: 'object' } },
    dry_run: { type: 'boolean' },
  },
  required: ['run_id', 'status', 'output', 'steps'],
}

/** Builds the tool of an action. */
export async function actionTool(action: ServedAction): Promise<EndpointTool> {
  const { name, id, title, description, inputSchema, isRead, isOpen } = action
  const projection = await projectInTurns(inputSchema)
  const without = ['external_id', 'external_source', 'relationships'] as const
  const input = createInput(projection, without)
  const made = definition(
    name,
    {
      title: clean(title, 100) || id,
      description: description ? clean(description, 1000) : `Run the action "${id}".`,
      permission: isRead ? 'read' : 'write',
      hints: { destructive: true, openWorld: isOpen },
      output: OUTPUT,
    },
    input.schema,
  )
  return {
    definition: made,
    recordType: null,
    operation: 'run',
    call: async (args, { base, at, context }, caller) => {
      const { reserved, data } = splitArguments(input, decodeStringified(args, input.schema))
      const how = check(Options, reserved, inBody())
      const call = asked(context, [at, name, args], how)
      const done = await withProgress(caller, () => run({ base, id, input: data }, call)).catch(
        (thrown: unknown) => {
          // The arguments are the input of the run.
          throw withPaths(thrown, (path) => path.replace(/^\/input(?=\/|$)/, ''))
        },
      )
      return success({ ...trim(done.run) }, true)
    },
  }
}
