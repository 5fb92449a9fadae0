import type { FieldMap, InputFieldMap, InputShapeFromFields } from '@pothos/core'
import {
  get,
  getVersion,
  type Kind,
  list,
  patch,
  put,
  remove,
  type Stored,
  type View,
} from '../engine/configuration/lifecycle/index.ts'
import type { PutOptions } from '../engine/configuration/lifecycle/kind.ts'
import { expectation } from '../engine/write/preconditions.ts'
import { builder } from './builder.ts'
import { Deleted, expectationArgs, notYetDeleted, Operation, versionArgs } from './common.ts'
import { mutation } from './mutation.ts'
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
  patch?: string
  remove: string
  /** Preconditions of a write. */
  writes?: { args: A; options: (args: InputShapeFromFields<A>) => Omit<PutOptions, 'expected'> }
  /** The delete cascades, so it takes a confirmation or an approved plan. */
  confirms?: true
}

export function configuration<F extends object, R extends Stored, A extends InputFieldMap>(
  name: string,
  kind: Kind<F, R>,
  spec: Spec<F, A>,
): void {
  // Pothos cannot resolve the fields of a generic type. The types were checked above, so build without them.
  define(name, kind as Kind, spec as unknown as Spec<object, InputFieldMap>)
}

function define(name: string, kind: Kind, spec: Spec<object, InputFieldMap>): void {
  const one = `${name.charAt(0).toLowerCase()}${name.slice(1)}`
  const type = builder.objectRef<View & { dryRun?: boolean }>(name).implement({
    description: spec.description,
    fields: (t) => ({
      id: t.exposeString('id'),
      ...spec.fields(t as unknown as Outputs<object>),
      version: t.exposeInt('version'),
      createdAt: t.expose('createdAt', { type: 'DateTime' }),
      updatedAt: t.expose('updatedAt', { type: 'DateTime' }),
      operation: t.field({ type: Operation, nullable: true, resolve: ({ operation }) => operation }),
      dryRun: t.exposeBoolean('dryRun', { nullable: true }),
    }),
  })
  const page = pageType(`${name}Page`, type)
  const input = builder.inputType(`${name}Input`, { fields: (t) => spec.inputs(t) as InputFieldMap })
  const target = () =>
    builder.args((t) => ({ base: t.string({ required: true }), id: t.string({ required: true }) }))
  const written = () => ({
    ...target(),
    ...builder.args((t) => ({ input: t.field({ type: input, required: true }) })),
    ...(spec.writes?.args as object | undefined),
  })

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
        ...target(),
        version: t.arg.int({ description: 'The version to return; the current one by default.' }),
      },
      resolve: (_root, { base, id, version }, { scope }) =>
        version == null ? get(kind, scope, base, id) : getVersion(kind, scope, base, id, version),
    }),
  )
  mutation(`put${name}`, {
    description: spec.put,
    type,
    args: { ...written(), ...expectationArgs() },
    resolve: (scope, { base, id, input, ...more }) =>
      put(kind, scope, base, id, input, { ...spec.writes?.options(more), expected: expectation(more) }),
  })
  if (spec.patch !== undefined)
    mutation(`patch${name}`, {
      description: spec.patch,
      type,
      args: { ...written(), ...versionArgs() },
      resolve: (scope, { base, id, input, ...more }) =>
        patch(kind, scope, base, id, input, { ...spec.writes?.options(more), expected: expectation(more) }),
    })
  mutation(`delete${name}`, {
    description: spec.remove,
    type: Deleted,
    ...(spec.confirms && { planned: notYetDeleted }),
    args: {
      ...target(),
      ...versionArgs(),
      ...(spec.confirms && builder.args((t) => ({ confirm: t.string() }))),
    },
    resolve: (scope, { base, id, ...more }) =>
      remove(kind, scope, base, id, {
        confirm: (more as { confirm?: string | null }).confirm ?? null,
        expected: expectation(more),
      }),
  })
}
