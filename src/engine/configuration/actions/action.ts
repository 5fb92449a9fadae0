/** Actions as a kind of configuration. Runs are in `actions/`. */
import type { z } from 'zod'
import { ActionBody, type Step } from '../../../contract/action-shapes.ts'
import { type Detail, detailsThrownBy } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { checkJson } from '../../../json/parse.ts'
import type { Action as Row } from '../../prisma/client.ts'
import { compileSchema } from '../../schema/json-schema/compile.ts'
import type { FieldsOf, Kind, Loaded } from '../lifecycle/kind.ts'
import { droppedProperties } from '../record-types/dropped-properties.ts'
import { RECORD_TYPE } from '../record-types/record-type.ts'
import { RELATIONSHIP_TYPE } from '../relationship-types/relationship-type.ts'
import { httpFaults } from './http-faults.ts'
import { secretFaults } from './secrets.ts'
import { refFaults, stepFaults, typesNamed } from './step-faults.ts'
import { templateFaults } from './template-faults.ts'

type Body = z.output<typeof ActionBody>
type Fields = Omit<FieldsOf<typeof ActionBody>, 'steps' | 'output'> & {
  steps: NonNullable<Body['steps']>
  output: unknown
}

/** Actions: named steps that run in one transaction. */
export const ACTION: Kind<Fields, Row> = {
  name: 'action',
  label: 'an action',
  codes: { notFound: 'action_not_found', unknown: 'unknown_action' },
  body: ActionBody,
  defaults: (id) => ({ name: id, description: null, inputSchema: {}, steps: [], output: null }),
  table: ({ orm }) => orm.action,
  references: ({ steps }) =>
    typesNamed(steps).map(({ kind, id, at }) => ({
      kind: kind === 'record_type' ? RECORD_TYPE : RELATIONSHIP_TYPE,
      id,
      at,
    })),
  warnings: (before, { inputSchema }) => [
    ...droppedProperties(before?.inputSchema, inputSchema).map(
      ({ name }) => `The property "${name}" is no longer in input_schema.`,
    ),
    ...compileSchema(inputSchema, '/input_schema').warnings,
  ],
  check: async (loaded, { next }) => ({ faults: await faultsOf(loaded, next) }),
}

async function faultsOf(loaded: Loaded, { inputSchema, steps, output }: Fields): Promise<readonly Detail[]> {
  if (steps.length === 0) return [NO_STEPS]
  checkJson({ steps, output })
  const chars = JSON.stringify([steps, output]).length
  if (chars > LIMITS.actionChars) return [tooLarge(chars)]
  const isNamedTwice = ({ name }: Step, n: number) => steps.findIndex((each) => each.name === name) < n
  return [
    ...detailsThrownBy(() => compileSchema(inputSchema, '/input_schema')),
    ...steps.flatMap((step, n) => [
      ...(isNamedTwice(step, n) ? [twice(step.name, n)] : []),
      ...stepFaults(step, n),
      ...refFaults(steps, n),
      ...(step.type === 'http' ? httpFaults(step, n, loaded.scope.egress.privateHosts) : []),
    ]),
    ...templateFaults(steps, output, inputSchema),
    ...(await secretFaults(loaded, steps)),
  ]
}

const NO_STEPS: Detail = {
  path: '/steps',
  code: 'required',
  message: 'steps is required: what a run does, such as [{ "name": "a", "type": "create_record", … }].',
}

const tooLarge = (received: number): Detail => ({
  path: '/steps',
  code: 'too_large',
  message: `The steps and the output of an action can have at most ${LIMITS.actionChars} characters as JSON. Shorten them, or divide the action.`,
  expected: LIMITS.actionChars,
  received,
})

const twice = (name: string, n: number): Detail => ({
  path: `/steps/${n}/name`,
  code: 'duplicate',
  message: `An earlier step has the name "${name}". Each step has a name of its own.`,
  received: name,
})
