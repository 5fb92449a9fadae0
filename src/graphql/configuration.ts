import type { FieldMap, InputFieldMap, InputRef, InputShapeFromFields, ObjectRef } from '@pothos/core'
import { snakeFields } from '../contract/field-names.ts'
import {
  get,
  getVersion,
  type Kind,
  list,
  type Patch,
  patch,
  put,
  remove,
  type Stored,
  type View,
} from '../engine/configuration/lifecycle/index.ts'
import type { PutOptions } from '../engine/configuration/lifecycle/kind.ts'
import type { Scope } from '../engine/core/scope.ts'
import { expectation } from '../engine/core/write/preconditions.ts'
import { invalid } from '../foundation/errors.ts'
import { builder } from './builder.ts'
import { Deleted, expectationArgs, notYetDeleted, Operation, targetArgs, versionArgs } from './common.ts'
import { mutation } from './mutation.ts'
import { nodeId } from './node-id.ts'
import { pageArgs, pageType } from './page.ts'

/**
 * Generates the GraphQL type, queries and mutations of a configuration kind, named after it: `Toolset`,
 * `toolsets`, `putToolset`.
 */

type Types = typeof builder.$inferSchemaTypes
type Outputs<F extends object> = PothosSchemaTypes.ObjectFieldBuilder<Types, View<F>>
type Inputs = PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>

type Spec<F extends object, A extends InputFieldMap> = {
  /** Description of the type. */
  description: string
  /** Output fields. */
  fields: (t: Outputs<F>) => Record<keyof F, FieldMap[string]> & FieldMap
  /** Input fields. */
  inputs: (t: Inputs) => Record<keyof F, InputFieldMap[string]>
  /** Descriptions of the operations. */
  list: string
  put: string
  remove: string
  /** Preconditions of a write. */
  writes?: { args: A; options: (args: InputShapeFromFields<A>) => Omit<PutOptions, 'expected'> }
  /** The delete cascades, so it takes a confirmation or an approved plan. */
  confirms?: true
}

/** The GraphQL type of a kind, for acts that answer it. */
export type ConfigurationType = ObjectRef<Types, View>

export function configuration<F extends object, R extends Stored, A extends InputFieldMap>(
  name: string,
  kind: Kind<F, R>,
  spec: Spec<F, A>,
): ConfigurationType {
  // Pothos cannot resolve the fields of a generic type. The types were checked above, so build without them.
  return define(name, kind as Kind, spec as unknown as Spec<object, InputFieldMap>)
}

function define(name: string, kind: Kind, spec: Spec<object, InputFieldMap>): ConfigurationType {
  const one = `${name.charAt(0).toLowerCase()}${name.slice(1)}`
  const type: ConfigurationType = builder.objectRef<View>(name).implement({
    description: spec.description,
    fields: (t) => ({
      id: t.exposeString('id'),
      nodeId: nodeId(t, ({ id }) => [id]),
      ...spec.fields(t as unknown as Outputs<object>),
      version: t.exposeInt('version'),
      createdAt: t.expose('createdAt', { type: 'DateTime' }),
      updatedAt: t.expose('updatedAt', { type: 'DateTime' }),
      operation: t.expose('operation', { type: Operation, nullable: true }),
      ...(kind.warnings && {
        warnings: t.stringList({
          nullable: true,
          description:
            'What this write removed from the schema, what breaks for generated GraphQL clients, and what the schema holds that is not checked or has the name of a built-in field.',
          resolve: ({ warnings }) => (warnings ? [...warnings] : null),
        }),
      }),
    }),
  })
  const page = pageType(`${name}Page`, type)
  const input = builder.inputType(`${name}Input`, { fields: (t) => spec.inputs(t) as InputFieldMap })
  const options = spec.writes?.args as object | undefined
  const written = () => ({
    ...targetArgs(),
    ...builder.args((t) => ({ input: t.field({ type: input, required: true }) })),
    ...options,
  })
  const at = <S extends Scope>(scope: S, baseId: string, id: string) => ({ kind, scope, baseId, id })

  builder.queryField(`${one}s`, (t) =>
    t.field({
      type: page,
      description: spec.list,
      args: { base: t.arg.string({ required: true }), ...pageArgs() },
      resolve: (_root, { base, ...args }, { scope }) => list(kind, scope, base, args),
    }),
  )
  builder.queryField(one, (t) =>
    t.field({
      type,
      args: {
        ...targetArgs(),
        version: t.arg.int({ description: 'The version to return; the current one by default.' }),
      },
      resolve: (_root, { base, id, version }, { scope }) =>
        version == null ? get(at(scope, base, id)) : getVersion(at(scope, base, id), version),
    }),
  )
  const carriesSecrets = kind.secrets !== undefined
  mutation(`put${name}`, {
    description: spec.put,
    type,
    carriesSecrets,
    args: { ...written(), ...expectationArgs() },
    resolve: (scope, { base, id, input, ...more }) =>
      put(at(scope, base, id), input, { ...spec.writes?.options(more), expected: expectation(more) }),
  })
  mutation(`patch${name}`, {
    description: `Changes ${kind.label}: merges the given fields into it, or applies a patch to its definition.`,
    type,
    carriesSecrets,
    args: { ...targetArgs(), ...patchArgs(input), ...options, ...versionArgs() },
    resolve: (scope, { base, id, input, merge, operations, ...more }) =>
      patch(at(scope, base, id), oneOf({ input, merge, operations }), {
        ...spec.writes?.options(more),
        expected: expectation(more),
      }),
  })
  mutation(`delete${name}`, {
    description: spec.remove,
    type: Deleted,
    ...(spec.confirms && { planned: notYetDeleted }),
    args: {
      ...targetArgs(),
      ...versionArgs(),
      ...(spec.confirms && builder.args((t) => ({ confirm: t.string() }))),
    },
    resolve: (scope, { base, id, ...more }) =>
      remove(at(scope, base, id), {
        confirm: (more as { confirm?: string | null }).confirm ?? null,
        expected: expectation(more),
      }),
  })
  return type
}

/** The forms of a patch, of which a request has one. */
const patchArgs = (input: InputRef<object>) =>
  builder.args((t) => ({
    input: t.field({
      type: input,
      description: 'Fields to merge: null removes a member, lists are replaced.',
    }),
    merge: t.field({
      type: 'JSON',
      description: 'A JSON Merge Patch (RFC 7396) of the definition, in the names of the REST body.',
    }),
    operations: t.field({
      type: 'JSON',
      description: 'A JSON Patch (RFC 6902) of it, with paths such as "/description".',
    }),
  }))

type Forms = { input: object | null | undefined; merge: unknown; operations: unknown }

function oneOf({ input, ...forms }: Forms): Patch {
  const sent = Object.entries(forms).filter(([, value]) => value != null)
  if (input && sent.length === 0) return { merge: snakeFields(input) }
  if (!input && sent.length === 1) return Object.fromEntries(sent) as Patch
  throw invalid({
    path: `/${sent.at(-1)?.[0] ?? 'input'}`,
    code: sent.length === 0 ? 'required' : 'exclusive',
    message: 'Send one of input, merge and operations.',
  })
}
