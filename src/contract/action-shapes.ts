import { z } from 'zod'
import { LIMITS } from '../foundation/limits.ts'
import { OPERATION_NAMES, OPERATION_SHAPES } from './batch-shapes.ts'
import { HeaderValue, outgoingHeaders } from './outgoing-headers.ts'
import { Description, Name } from './shapes.ts'

/** Zod shapes of actions and their runs, shared by all layers. */

export const RUN_STATUSES = ['succeeded', 'failed'] as const

const STEP_TYPES = [...OPERATION_NAMES, 'query', 'http'] as const
type StepType = (typeof STEP_TYPES)[number]

export const STEP_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

const STEP_NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/

/** The fields of a step besides `name`. A string may hold templates, so each is checked by itself. */
export const STEP_SHAPES = {
  ...OPERATION_SHAPES,
  query: z.strictObject({
    type: z.literal('query'),
    record_type: z.string(),
    filter: z.unknown().optional(),
    sort: z.unknown().optional(),
    limit: z
      .int()
      .min(1)
      .max(LIMITS.pageMax, `A query step reads at most ${LIMITS.pageMax} records.`)
      .optional(),
  }),
  http: z.strictObject({
    type: z.literal('http'),
    method: z.enum(STEP_METHODS).optional(),
    url: z.string(),
    headers: outgoingHeaders(HeaderValue).optional(),
    body: z.unknown().optional(),
  }),
} as const satisfies Record<StepType, z.ZodObject>

const Step = z
  .looseObject({
    name: z
      .string()
      .regex(STEP_NAME, 'The name of a step has 1 to 64 letters, digits, "_" or "-".')
      .meta({ description: 'Later steps and `output` read what it did: `{{steps.<name>.id}}`.' }),
    type: z.enum(STEP_TYPES).meta({
      description:
        'An operation of a batch, `query` (`record_type, filter, sort, limit`) or `http` (`method, url, headers, body`). The other fields of the step are those of this type.',
    }),
    when: z.unknown().optional().meta({
      description:
        'A filter over `input.…` and `steps.<name>.…`. Unless it holds, the step is skipped, and what reads its result gets null.',
    }),
  })
  .meta({ id: 'ActionStep' })
/** A step as it is written: its strings may hold templates. */
export type Step = z.output<typeof Step>

/** The body of an action on every surface. */
export const ActionBody = z.strictObject({
  name: Name.optional().meta({ description: 'Defaults to the id.' }),
  description: Description.optional(),
  input_schema: z
    .record(z.string(), z.unknown())
    .optional()
    .meta({ description: 'The JSON Schema of the input, an object. Defaults to `{}`, any object.' }),
  steps: z
    .array(Step)
    .min(1, 'It must have at least one step.')
    .max(LIMITS.actionSteps, `It can have at most ${LIMITS.actionSteps} steps.`)
    .optional()
    .meta({
      description:
        'What a run does, in order and in one transaction. Strings may hold `{{input.x}}` and `{{steps.a.id}}`.',
    }),
  output: z.unknown().optional().meta({
    description: 'What a run answers: JSON with templates. Defaults to null.',
  }),
})
