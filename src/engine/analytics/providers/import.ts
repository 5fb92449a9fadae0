import { ID_RULES, isTypeId } from '../../../contract/ids.ts'
import { type Detail, DomainError, invalid } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { notebook } from '../../schema/json-schema/schema-warnings.ts'
import type { OpenedTool, ProviderCodec, ToolDefinition } from './codec.ts'
import { readString, wrongType } from './input.ts'
import { readSchema } from './schema-in.ts'

/** Where the tools are in a request. */
const AT = '/tools'

/**
 * Parses native tool definitions into record type definitions; reports all faults of all tools in one 400.
 */
export function readTools(codec: ProviderCodec, natives: unknown): ToolDefinition[] {
  if (!Array.isArray(natives)) throw wrongType(natives, AT, 'an array')
  const faults: Detail[] = []
  const attempt = <T>(read: () => T): T[] => {
    try {
      return [read()]
    } catch (fault) {
      if (!(fault instanceof DomainError)) throw fault
      faults.push(...fault.details)
      return []
    }
  }
  limit(natives.length)
  const opened = natives.flatMap((native, i) => attempt(() => codec.open(native, `${AT}/${i}`))).flat()
  limit(opened.length)
  const seen = new Map<string, string>()
  const tools = opened.flatMap((tool) => attempt(() => readTool(codec, tool, seen)))
  const [first, ...rest] = faults
  if (first) throw invalid(first, ...rest)
  return tools
}

function readTool(codec: ProviderCodec, tool: OpenedTool, seen: Map<string, string>): ToolDefinition {
  const { note, lines } = notebook()
  const name = readName(tool, seen)
  return {
    name,
    nameAt: tool.nameAt,
    schemaAt: tool.schemaAt,
    title: readText(tool.title, tool.titleAt, LIMITS.nameChars) || null,
    description: readText(tool.description, tool.descriptionAt, LIMITS.descriptionChars),
    jsonSchema: readSchema(tool, note),
    source: { provider: codec.id, definition: tool.definition },
    warnings: lines(),
  }
}

function readName(tool: OpenedTool, seen: Map<string, string>): string {
  const [path, name] = [tool.nameAt, readString(tool.name, tool.nameAt)]
  if (!isTypeId(name)) {
    const received = name.slice(0, 100)
    const message = `"${received}" cannot be the id of a record type, which is ${ID_RULES.type}.`
    throw invalid({
      path,
      code: 'invalid_id',
      message,
      expected: ID_RULES.type,
      received,
      ...suggestion(name),
    })
  }
  const first = seen.get(name)
  if (first !== undefined) {
    const message = `"${name}" is the name of another tool already, at ${first}.`
    throw invalid({
      path,
      code: 'duplicate',
      message,
      received: name,
      hint: 'Send a unique name for each tool.',
    })
  }
  seen.set(name, path)
  return name
}

function suggestion(name: string): { hint?: string } {
  const hint = name
    .replaceAll(/[^A-Za-z0-9_.-]+/g, '_')
    .replace(/^[_.-]+/, '')
    .slice(0, 64)
  return hint === '' ? {} : { hint }
}

function readText(value: unknown, at: string, maxChars: number): string | null {
  if (value === undefined || value === null) return null
  const text = readString(value, at)
  const chars = text.length > maxChars ? [...text].length : 0
  if (chars <= maxChars) return text
  throw invalid({
    path: at,
    code: 'too_long',
    message: `${at} has ${chars} characters; ${maxChars} are allowed.`,
    expected: `at most ${maxChars} characters`,
    received: chars,
  })
}

function limit(count: number): void {
  if (count <= LIMITS.toolsPerImport) return
  throw invalid({
    path: AT,
    code: 'too_many',
    message: `${count} tools are too many for one import. Send at most ${LIMITS.toolsPerImport} at a time.`,
    expected: `at most ${LIMITS.toolsPerImport} tools`,
    received: count,
  })
}
