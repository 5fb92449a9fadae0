/** MCP prompts: records of the type `prompt`. */
import { nearest } from '../../contract/suggest.ts'
import { DomainError } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import type { Context } from '../../graphql/context.ts'
import { staticOperation } from '../../graphql/execute.ts'
import { valuesOf } from '../../json/rows.ts'
import { clean, listed } from '../../schema-shape/descriptions.ts'
import type { AddressSession } from '../protocol/address-session.ts'
import { InvalidParams } from '../protocol/provider.ts'
import { acrossBases, foreignCursor } from '../resources/across-bases.ts'
import { isNotVisible } from '../resources/resources.ts'
import { fillTemplate, type Prompt, type PromptArgument, readPrompt } from './prompt-record.ts'

/** Records of this type are prompts. */
export const PROMPT_TYPE = 'prompt'

const ACTIVE = { field: 'status', op: 'eq', value: 'active' }
const listRecords =
  staticOperation(`query Prompts($base: String!, $type: String!, $filter: JSON, $limit: Int) {
  records(base: $base, recordType: $type, filter: $filter, sort: "created_at,id", fields: ["id", "data"], limit: $limit) { rows }
}`)
type Row = { id: string; data: unknown }
type Faulty = { id: string; fault: string }
/** The prompts of a base by published name, and the invalid prompt records. */
type PromptsOfBase = { known: ReadonlyMap<string, Prompt>; faulty: readonly (Faulty & { name: unknown })[] }

/** Lists the prompts of the address. On `/mcp`, names have the base as prefix: `crm/greet`. */
export async function listPrompts(session: AddressSession, cursor?: string) {
  if (session.base !== null && cursor !== undefined) throw foreignCursor()
  const { items, nextCursor } = await acrossBases(
    session,
    LIMITS.promptsOfBase,
    cursor,
    async (base, _limit, inBase) => {
      if (inBase !== null) throw foreignCursor()
      const { known } = await promptsOf(base, session.context)
      const prompts = [...known].map(([name, prompt]) =>
        published(publicName(session, base, name), prompt, base),
      )
      return { items: prompts, nextCursor: undefined }
    },
  ).catch((thrown: unknown) => {
    throw thrown instanceof DomainError && thrown.code === 'VALIDATION_ERROR' ? foreignCursor() : thrown
  })
  return { prompts: items, ...(nextCursor !== undefined && { nextCursor }) }
}

/**
 * Returns a prompt with its arguments filled in, as one user message.
 * @throws InvalidParams that names the argument at fault
 */
export async function getPrompt(
  session: AddressSession,
  name: string,
  args: Readonly<Record<string, string>>,
) {
  const { base, prompt } = await requirePrompt(session, name)
  checkArguments(name, prompt, args)
  const text = fillTemplate(prompt, args)
  if (text === undefined)
    throw new InvalidParams(`The prompt would be longer than ${LIMITS.promptBytes} characters.`)
  return {
    description: description(prompt, base),
    messages: [{ role: 'user', content: { type: 'text', text } }],
  }
}

/** Finds a prompt by name; undefined if it does not exist or the token cannot read it. */
export async function findPrompt(
  session: AddressSession,
  name: string,
): Promise<{ base: string; prompt: Prompt } | undefined> {
  const [base, own] = ownName(session, name)
  const prompt = base === undefined ? undefined : (await promptsOf(base, session.context)).known.get(own)
  return base !== undefined && prompt ? { base, prompt } : undefined
}

async function requirePrompt(
  session: AddressSession,
  name: string,
): Promise<{ base: string; prompt: Prompt }> {
  const [base, own] = ownName(session, name)
  const none: PromptsOfBase = { known: new Map(), faulty: [] }
  const { known, faulty } = base === undefined ? none : await promptsOf(base, session.context)
  const prompt = known.get(own)
  if (base !== undefined && prompt) return { base, prompt }
  const shown = name.slice(0, 128)
  const bad = faulty.find((each) => each.name === own)
  if (bad) throw new InvalidParams(`The record "${bad.id}" is not a valid prompt. ${bad.fault}`)
  const close = base === undefined ? undefined : nearest(own, known.keys())
  const hint = close === undefined ? '' : ` Did you mean "${publicName(session, base ?? '', close)}"?`
  throw new InvalidParams(`There is no prompt "${shown}" here.${hint} prompts/list lists the prompts.`)
}

/** Published name of a prompt: on `/mcp` with its base as prefix. */
const publicName = (session: AddressSession, base: string, own: string): string =>
  session.base === null ? `${base}/${own}` : own

function ownName({ base }: AddressSession, name: string): readonly [base: string | undefined, own: string] {
  if (base !== null) return [base, name]
  const at = name.indexOf('/')
  return at < 0 ? [undefined, name] : [name.slice(0, at), name.slice(at + 1)]
}

/**
 * Loads the active prompts of a base, oldest first. On a name clash the newer prompt gets its id as a suffix,
 * so that existing names are stable.
 */
async function promptsOf(base: string, context: Context): Promise<PromptsOfBase> {
  const known = new Map<string, Prompt>()
  const faulty: (Faulty & { name: unknown })[] = []
  for (const row of await rowsOf(base, context)) {
    const prompt = readPrompt(row)
    if ('fault' in prompt) faulty.push({ ...prompt, name: (row.data as { name?: unknown }).name })
    else known.set(freeName(prompt, known), prompt)
  }
  return { known, faulty }
}

/** The prompt records; none if the type does not exist or the token cannot read it. */
async function rowsOf(base: string, context: Context): Promise<Row[]> {
  try {
    const asked = { base, type: PROMPT_TYPE, filter: ACTIVE, limit: LIMITS.promptsOfBase }
    return valuesOf((await listRecords(asked, context)).records.rows) as Row[]
  } catch (thrown) {
    if (isNotVisible(thrown)) return []
    throw thrown
  }
}

function freeName({ id, name }: Prompt, taken: ReadonlyMap<string, unknown>): string {
  const plain = clean(name, 128) || id
  let free = plain
  for (let n = 1; taken.has(free); n++) free = n === 1 ? `${plain}-${id}` : `${plain}-${id}-${n}`
  return free
}

const description = (prompt: Prompt, base: string): string =>
  clean(prompt.description ?? '', 1000) || `A prompt of base "${base}".`

const published = (name: string, prompt: Prompt, base: string) => ({
  name,
  description: description(prompt, base),
  arguments: prompt.arguments.map((argument) => {
    const about = aboutArgument(argument)
    return { name: argument.name, ...(about && { description: about }), required: argument.required ?? false }
  }),
})

/** Description of an argument: the author's text, and the allowed values. */
function aboutArgument({ description, record_type, enum: values }: PromptArgument): string {
  return [
    clean(description ?? '', 600),
    values && values.length > 0 ? `One of ${listed(values)}.` : '',
    record_type ? `The id of a record of type "${clean(record_type, 64)}".` : '',
  ]
    .filter(Boolean)
    .join(' ')
}

/**
 * Checks the arguments of a prompt.
 * @throws InvalidParams
 */
function checkArguments(name: string, prompt: Prompt, args: Readonly<Record<string, string>>): void {
  const names = prompt.arguments.map((argument) => argument.name)
  const shown = name.slice(0, 128)
  const unknown = Object.keys(args).find((given) => !names.includes(given))
  if (unknown !== undefined) {
    const close = nearest(unknown, names)
    throw new InvalidParams(
      `The prompt "${shown}" takes no "${unknown.slice(0, 64)}".${close ? ` Did you mean "${close}"?` : ''} It takes ${names.length > 0 ? listed(names) : 'no arguments'}.`,
    )
  }
  for (const argument of prompt.arguments) {
    const value = Object.hasOwn(args, argument.name) ? args[argument.name] : undefined
    if (value === undefined && argument.required)
      throw new InvalidParams(`The prompt "${shown}" needs the argument "${argument.name}".`)
    const values = argument.enum ?? []
    // Forms send an empty string for an empty field.
    const isLeftOut = value === undefined || (value === '' && !argument.required)
    if (!isLeftOut && values.length > 0 && !values.includes(value))
      throw new InvalidParams(`"${argument.name}" must be one of ${listed(values)}.`)
  }
}
