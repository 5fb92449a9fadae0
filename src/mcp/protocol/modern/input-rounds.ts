import { digest } from '../../../contract/canonical-hash.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { sealText, unsealText } from '../../../graphql/context.ts'
import { type AddressSession, exactAddressOf } from '../address-session.ts'
import { type Answers, InputNeeded, InvalidParams, type Questions, type Wire } from '../provider.ts'

/** What the client carries between the rounds of a call: what was asked, by digest, what was answered, and until when. */
type State = { asked: Record<string, string>; answers: Record<string, Wire>; until: number }

/**
 * The rounds of one call. This era keeps nothing: a call that needs an answer ends with the question, and is sent again
 * with the answer and with what was known before, sealed for the token and bound to the call and its address.
 */
export type Rounds = {
  /** The answers, if all are there. @throws InputNeeded */
  ask(questions: Questions): Answers
  /** What the client has to send with its answers. */
  stateFor(questions: Questions): string
}

type Sent = { inputResponses?: unknown; requestState?: unknown }

/** @param call what the call is: its method and all its arguments @throws InvalidParams for a state that is not of it */
export function openRounds(
  session: AddressSession,
  call: unknown,
  { inputResponses, requestState }: Sent,
): Rounds {
  const boundTo = [exactAddressOf(session), call]
  const { asked, answers: before } = openState(session, boundTo, requestState)
  const answers = { ...before, ...answersTo(asked, inputResponses) }
  return {
    ask(questions) {
      // An answer counts for the very question it was given to.
      const open = Object.entries(questions).filter(
        ([name, question]) => answers[name] === undefined || asked[name] !== digest(question),
      )
      if (open.length > 0) throw new InputNeeded(Object.fromEntries(open))
      return Object.fromEntries(Object.keys(questions).map((name) => [name, answers[name] ?? {}]))
    },
    stateFor(questions) {
      const now = Object.entries(questions).map(([name, question]) => [name, digest(question)])
      const state: State = {
        asked: { ...asked, ...Object.fromEntries(now) },
        answers,
        until: Date.now() + LIMITS.mcpAnswerMs,
      }
      return sealText(session.context, boundTo, JSON.stringify(state))
    },
  }
}

function openState(session: AddressSession, boundTo: unknown, sealed: unknown): Omit<State, 'until'> {
  if (sealed === undefined) return { asked: {}, answers: {} }
  const text = typeof sealed === 'string' ? unsealText(session.context, boundTo, sealed) : undefined
  const state = text === undefined ? undefined : (JSON.parse(text) as State)
  if (!state || state.until < Date.now())
    throw new InvalidParams(
      'requestState is not of this call at this address, or too old: send the call again without it, and answer what is asked then.',
    )
  return state
}

/** The answers to what was asked; whatever else was sent answers nothing. */
function answersTo(asked: State['asked'], sent: unknown): Record<string, Wire> {
  if (!isObject(sent)) return {}
  const answers = Object.keys(asked).flatMap((name) => {
    const answer = Object.hasOwn(sent, name) ? sent[name] : undefined
    // Some clients send the result as a message, which is no answer: it is asked for again.
    return isObject(answer) && !('method' in answer || 'result' in answer) ? [[name, answer] as const] : []
  })
  return Object.fromEntries(answers)
}

const isObject = (value: unknown): value is Wire =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
