import { stringify } from 'yaml'
import { nextTurn, turnIsOver } from '../foundation/event-loop-turns.ts'
import { LIMITS } from '../foundation/limits.ts'

/** Long texts stay on one line, so that a diff of two files shows whole values. */
const STYLE = { lineWidth: 0 }

/** The line by which editors find the JSON Schema of a config file. */
const schemaLine = (schema: string): string => `# yaml-language-server: $schema=${schema}\n`

/** A config file as YAML with a reference to its JSON Schema, printed in short turns of the event loop. */
export const configYaml = async (config: object, schema: string): Promise<string> => {
  const parts: string[] = [schemaLine(schema)]
  await print(config, '', parts)
  return parts.join('')
}

async function print(value: object, indent: string, parts: string[]): Promise<void> {
  const isList = Array.isArray(value)
  for (const [key, member] of Object.entries(value)) {
    if (turnIsOver()) await nextTurn()
    const isLarge =
      typeof member === 'object' && member !== null && JSON.stringify(member).length > LIMITS.yamlCharsAtOnce
    const entry = (content: unknown) => stringify(isList ? [content] : { [key]: content }, STYLE)
    if (!isLarge) {
      parts.push(indented(entry(member), indent))
      continue
    }
    // What comes before an empty mapping is the start of the entry.
    parts.push(indented(`${entry({}).slice(0, -'{}\n'.length).trimEnd()}\n`, indent))
    await print(member, `${indent}  `, parts)
  }
}

// A line ends at \n only: `^` would also match after U+2028 and U+2029, inside of a value.
const indented = (text: string, indent: string): string =>
  text.replace(/(^|\n)(?=[^\n])/g, (start) => start + indent)
