import { z } from 'zod'
import { check, inBody } from '../../contract/validate.ts'
import { DomainError } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'

const Argument = z.object({
  name: z.string().regex(/^[A-Za-z0-9_.-]{1,64}$/, 'name must be 1 to 64 letters, digits, "_", "." and "-".'),
  description: z.string().nullish(),
  required: z.boolean().nullish(),
  /** The argument takes the id of a record of this type. */
  record_type: z.string().nullish(),
  enum: z.array(z.string()).nullish(),
})
export type PromptArgument = z.output<typeof Argument>

/** Shape of the data of a prompt record. Other members are allowed and ignored. */
const Prompt = z.object({
  name: z.string().trim().min(1).max(128),
  description: z.string().nullish(),
  arguments: z
    .array(Argument)
    .max(LIMITS.promptArguments)
    .refine((list) => new Set(list.map(({ name }) => name)).size === list.length, 'A name is used twice.')
    .nullish(),
  template: z.string().max(LIMITS.promptBytes),
})

/** A validated prompt. */
export type Prompt = {
  id: string
  name: string
  description: string | null
  arguments: readonly PromptArgument[]
  template: string
}

/** Reads a record of type `prompt`. Returns the prompt, or a sentence that says why it is invalid. */
export function readPrompt({
  id,
  data,
}: {
  id: string
  data: unknown
}): Prompt | { id: string; fault: string } {
  try {
    const { name, description, arguments: args, template } = check(Prompt, data, inBody('/data'))
    return { id, name, description: description ?? null, arguments: args ?? [], template }
  } catch (thrown) {
    if (!(thrown instanceof DomainError)) throw thrown
    const [detail] = thrown.details
    return { id, fault: `${detail?.path}: ${thrown.message}` }
  }
}

const PLACE = /\{\{\s*([A-Za-z0-9_.-]{1,64})\s*\}\}/g

/**
 * Fills a template. Placeholders of missing arguments become empty; unknown placeholders stay. Values are not
 * expanded again. Undefined if the result exceeds `LIMITS.promptBytes`.
 */
export function fillTemplate(
  { template, arguments: known }: Prompt,
  given: Readonly<Record<string, string>>,
): string | undefined {
  const values = new Map(
    known.map(({ name }) => [name, Object.hasOwn(given, name) ? (given[name] ?? '') : '']),
  )
  let length = template.length
  for (const [place, name = ''] of template.matchAll(PLACE))
    length += (values.get(name) ?? place).length - place.length
  if (length > LIMITS.promptBytes) return undefined
  return template.replace(PLACE, (place, name: string) => values.get(name) ?? place)
}
