/** Actions as a kind of configuration. Runs are in `actions/`. */
import type { z } from 'zod'
import { ActionBody, type Step } from '../../../contract/action-shapes.ts'
import { HEADER_VALUE, headerNameFault } from '../../../contract/outgoing-headers.ts'
import type { PrivateHosts } from '../../../foundation/egress/allowed-addresses.ts'
import { urlFault } from '../../../foundation/egress/url-fault.ts'
import { type Detail, detailsThrownBy } from '../../../foundation/errors.ts'
import { isObject } from '../../../foundation/is-object.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { checkJson, pointer } from '../../../json/parse.ts'
import type { Action as Row } from '../../prisma/client.ts'
import { compileSchema } from '../../schema/json-schema/compile.ts'
import { hasTemplate } from '../../schema/templates/parse.ts'
import { writtenOrigin } from '../../schema/templates/urls.ts'
import type { FieldsOf, Kind, Loaded } from '../lifecycle/kind.ts'
import { droppedProperties } from '../record-types/dropped-properties.ts'
import { RECORD_TYPE } from '../record-types/record-type.ts'
import { RELATIONSHIP_TYPE } from '../relationship-types/relationship-type.ts'
import { secretFaults, secretTexts } from './secrets.ts'
import { refFaults, stepFaults, typesNamed } from './step-faults.ts'
import { templateFaults } from './template-faults.ts'

/** Http steps: the target and the headers, as far as they are written out. */
function httpFaults(step: Step, n: number, targets: PrivateHosts): Detail[] {
  const { url, headers } = step
  return [
    ...(typeof url === 'string'
      ? urlFaults(url, `/steps/${n}/url`, secretTexts(step).length > 0, targets)
      : []),
    ...(isObject(headers) ? headerFaults(headers, `/steps/${n}/headers`) : []),
  ]
}

function urlFaults(url: string, path: string, usesSecrets: boolean, targets: PrivateHosts): Detail[] {
  if (!hasTemplate(url)) {
    const fault = urlFault(url, targets)
    return fault ? [{ path, ...fault }] : []
  }
  const origin = writtenOrigin(url)
  if (origin !== null) {
    const fault = urlFault(origin, targets)
    return fault ? [{ path, ...fault }] : []
  }
  const isWhole = /^\{\{[^{}]*\}\}$/.test(url)
  if (isWhole && !usesSecrets) return []
  return [
    {
      path,
      code: 'open_host',
      message: usesSecrets
        ? 'A step with a secret must name the host of its url without templates. Otherwise an input could send the secret to another host.'
        : 'Write scheme and host without templates, such as "https://example.com/{{input.id}}", or let the url be one template.',
      received: url.slice(0, 200),
    },
  ]
}

function headerFaults(headers: Record<string, unknown>, at: string): Detail[] {
  const names = Object.keys(headers)
  return names.flatMap((name, i): Detail[] => {
    const path = `${at}${pointer(name)}`
    const value = headers[name]
    const fault = headerNameFault(names, i, { sender: 'request' })
    if (fault) return [{ path, ...fault }]
    if (typeof value === 'string' && !hasTemplate(value) && !HEADER_VALUE.test(value))
      return [{ path, code: 'invalid_header', message: 'A header has visible ASCII characters and spaces.' }]
    return []
  })
}

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
