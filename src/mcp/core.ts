import { DomainError } from '../errors.ts'
import { mayAnywhere } from '../graphql/context.ts'
import { nearest } from '../nearest.ts'
import { aggregateTools } from './aggregates.ts'
import { baseTools } from './bases.ts'
import { profileTools } from './profile.ts'
import { recordTypeTools, typeAdministration } from './record-types.ts'
import { recordTools } from './records.ts'
import { failure, success, type ToolResult } from './result.ts'
import type { Session } from './session.ts'
import { sqlTools } from './sql.ts'
import type { Tool, ToolDefinition } from './tool.ts'
import { callTyped, typedTool, typedTools } from './typed.ts'

/** Tools of every base, whatever its types. */
export const GENERIC: readonly Tool[] = [
  ...recordTypeTools,
  ...profileTools,
  ...recordTools,
  ...aggregateTools,
  ...sqlTools,
]
/** Tools of the account, on `/mcp` only. */
export const ACCOUNT: readonly Tool[] = [...baseTools, ...typeAdministration]

/** A fault of the protocol, not of the call: no tool of the name can be there for anyone, or no such page. */
export class InvalidParams extends Error {}

/** The tools of this address that the token may use, in one order. Grants and address decide, nothing else. */
export async function listTools(session: Session, cursor?: string): Promise<ToolDefinition[]> {
  if (cursor !== undefined) throw new InvalidParams('tools/list has one page: send no cursor.')
  const { context, base } = session
  const rows = base === null ? [...ACCOUNT, ...GENERIC] : GENERIC
  const generic = rows.filter((row) => offered(row, session)).map((row) => row.define(base === null))
  if (base === null || session.readonly) return generic
  return [...generic, ...(await typedTools(base, context)).listed]
}

/** Calls a tool by name. A tool that is not listed for want of room is called all the same. @throws InvalidParams */
export async function callTool(
  session: Session,
  name: string,
  args: Record<string, unknown>,
): Promise<ToolResult> {
  const { context, base } = session
  const rows = base === null ? [...ACCOUNT, ...GENERIC] : GENERIC
  const row = rows.find((each) => each.name === name)
  try {
    if (row) {
      if (session.readonly && row.permission !== 'read') throw await unknown(session, name)
      if (!mayAnywhere(context, row.permission, base)) throw forbidden(name)
      return success(await row.call(args, session), row.showsRecords)
    }
    const typed = base === null || session.readonly ? undefined : await typedTool(base, name, context)
    if (!typed || base === null) throw await unknown(session, name)
    return success(await callTyped(typed, base, args, context), true)
  } catch (thrown) {
    if (thrown instanceof InvalidParams) throw thrown
    return failure(thrown, context.scope.requestId)
  }
}

const offered = (row: Tool, { readonly, context, base }: Session) =>
  (!readonly || row.permission === 'read') &&
  mayAnywhere(context, row.permission, base) &&
  row.available(context)

/** A name of a type's tool tells nothing of types outside the grants: it is forbidden whether or not the type exists. */
async function unknown(session: Session, name: string): Promise<Error> {
  const { context, base, readonly } = session
  const ofType = /^(create|update)_./.test(name)
  if (ofType && base !== null && !readonly && !writesEverything(session)) return forbidden(name)
  const names = (await listTools(session)).map((tool) => tool.name)
  const typed = base === null || readonly ? [] : [...(await typedTools(base, context)).all.keys()]
  const close = nearest(name, [...names, ...typed])
  return new InvalidParams(
    `There is no tool "${name.slice(0, 128)}" here.${close ? ` Did you mean "${close}"?` : ''} tools/list names those there are.`,
  )
}

const writesEverything = ({ context, base }: Session) =>
  base !== null && context.scope.access.allows('write', base, '*')

const forbidden = (name: string) =>
  new DomainError('FORBIDDEN', `The token may not use "${name.slice(0, 128)}".`, {
    details: [
      { path: '', code: 'missing_permission', message: 'tools/list names the tools this token may use.' },
    ],
  })
