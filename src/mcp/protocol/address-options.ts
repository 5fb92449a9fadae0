import { ID_RULES, isTypeId } from '../../contract/ids.ts'
import { nearest, unknownName } from '../../contract/suggest.ts'
import { type Detail, invalid } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import type { Options } from './address-session.ts'

const ANYWHERE = ['types', 'readonly', 'tools'] as const
/** The author of an endpoint chooses its tools, so it has no profiles. */
const AT_BASE = [...ANYWHERE, 'profile'] as const
const PROFILES = ['lean'] as const
const FLAGS: Readonly<Record<string, boolean>> = { '1': true, true: true, '0': false, false: false }
/** Format of a tool name. Type tools come and go, so only the format of their names is checked. */
const TOOL_NAME = /^[A-Za-z0-9_.-]{1,128}$/
const OF_A_TYPE = /^(create|update)_./

/**
 * Parses the options in the query of an MCP address. Unknown options are rejected, because ignoring a
 * misspelled restriction would widen access. `generic` lists the tools that exist at every time; null if none
 * is fixed.
 * @throws VALIDATION_ERROR with every fault
 */
export function readOptions(
  query: Readonly<Record<string, unknown>>,
  generic: readonly string[] | null,
): Options {
  const [first, ...rest] = Object.entries(query).flatMap(([name, value]) => faultsOf(name, value, generic))
  if (first) throw invalid(first, ...rest)
  const { types, readonly, tools, profile } = query as Record<string, string | undefined>
  if (profile !== undefined && tools !== undefined) throw twoLists()
  return {
    readonly: FLAGS[readonly ?? '0'] ?? false,
    types: types?.split(',') ?? null,
    tools: tools?.split(',') ?? null,
    profile: profile === undefined ? null : 'lean',
  }
}

function faultsOf(name: string, value: unknown, generic: readonly string[] | null): Detail[] {
  const path = `query/${name.slice(0, 64)}`
  const known = generic === null ? ANYWHERE : AT_BASE
  if (!known.includes(name as never)) {
    const hint = nearest(name, known)
    const message = `Unknown option in the address: "${name.slice(0, 64)}".${hint ? ` Did you mean "${hint}"?` : ''}`
    return [{ path, code: 'unknown_key', message, allowed: known, ...(hint && { hint }) }]
  }
  if (typeof value !== 'string') return [{ path, code: 'duplicate', message: `"${name}" is sent twice.` }]
  if (name === 'readonly')
    return Object.hasOwn(FLAGS, value)
      ? []
      : [{ path, code: 'enum', message: 'readonly must be 1 or 0.', allowed: ['1', '0'] }]
  if (name === 'profile')
    return PROFILES.includes(value as never)
      ? []
      : [
          {
            path,
            code: 'enum',
            message: 'profile must be lean. Send profile=lean, or leave it out.',
            allowed: PROFILES,
            hint: 'lean',
          },
        ]
  const names = value.split(',')
  if (names.length > LIMITS.narrowedNames)
    return [{ path, code: 'too_many', message: `${name} can have at most ${LIMITS.narrowedNames} names.` }]
  return name === 'types'
    ? names.filter((id) => !isTypeId(id)).map((id) => noTypeId(path, id))
    : names.filter((tool) => !isToolName(tool, generic)).map((tool) => noTool(path, tool, generic ?? []))
}

/** Type tools are checked by format only: the type may be created later, or be hidden from the token. */
const isToolName = (tool: string, generic: readonly string[] | null) =>
  generic?.includes(tool) || ((generic === null || OF_A_TYPE.test(tool)) && TOOL_NAME.test(tool))

const twoLists = () =>
  invalid({
    path: 'query/profile',
    code: 'exclusive',
    message: 'profile and tools exclude each other. Send one of them.',
  })

const noTypeId = (path: string, id: string): Detail => ({
  path,
  code: 'invalid_id',
  message: `types must be comma-separated ids of record types: ${ID_RULES.type}.`,
  received: id.slice(0, 64),
})

const noTool = (path: string, tool: string, generic: readonly string[]): Detail => {
  const about = unknownName(tool, generic)
  const meant = about.hint ? ` Did you mean "${about.hint}"?` : ''
  return { path, code: 'enum', message: `There is no tool "${tool.slice(0, 64)}".${meant}`, ...about }
}
