import { usedExtensions } from './client-extensions.ts'
import {
  type Answers,
  type Elicited,
  MissingCapability,
  type Questions,
  Unanswered,
  type Wire,
} from './provider.ts'

const CAPABILITY = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
} as const

/** The capabilities of a client that the server makes use of, without their details. */
export const usedCapabilities = (declared: Wire): Wire => ({
  ...usedExtensions(declared),
  ...Object.fromEntries(
    Object.values(CAPABILITY).flatMap((name) => (isDeclared(name, declared[name]) ? [[name, {}]] : [])),
  ),
})

/**
 * Checks that the client declares the capabilities that the questions need.
 * @throws MissingCapability naming all that are missing
 */
export function requireCapabilities(questions: Questions, declared: Wire): void {
  const needed = Object.values(questions).map(({ method }) => CAPABILITY[method])
  const missing = needed.filter((name) => !isDeclared(name, declared[name]))
  if (missing.length > 0) throw new MissingCapability(Object.fromEntries(missing.map((name) => [name, {}])))
}

/**
 * A client that declares elicitation without modes supports forms; one that lists modes supports only those.
 */
function isDeclared(name: string, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return name !== 'elicitation' || Object.keys(value).length === 0 || 'form' in value
}

/**
 * Builds `elicit` on top of `ask`. Each question of a call gets a unique name. Returns `unavailable` if the
 * client does not support elicitation or does not answer.
 */
export function eliciting(ask: (questions: Questions) => Promise<Answers>) {
  let asked = 0
  return async (message: string, schema: Wire): Promise<Elicited> => {
    const key = `question_${++asked}`
    try {
      const params = { message, requestedSchema: schema }
      const answers = await ask({ [key]: { method: 'elicitation/create', params } })
      return toElicited(answers[key])
    } catch (thrown) {
      if (thrown instanceof MissingCapability || thrown instanceof Unanswered)
        return { outcome: 'unavailable' }
      throw thrown
    }
  }
}

function toElicited(answer: Wire | undefined): Elicited {
  if (answer?.['action'] === 'accept')
    return { outcome: 'accepted', content: (answer['content'] ?? {}) as Wire }
  return { outcome: answer?.['action'] === 'decline' ? 'declined' : 'cancelled' }
}
