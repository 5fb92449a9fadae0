import { digest } from '../../../contract/canonical-hash.ts'
import { isObject } from '../../../foundation/is-object.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { own } from '../../../foundation/own.ts'
import { sealText, unsealText } from '../../../graphql/context.ts'
import { type AddressSession, exactAddressOf } from '../address-session.ts'
import { type Answers, InputNeeded, InvalidParams, type Questions, type Wire } from '../provider.ts'

/**
 * Sealed state that the client carries between the rounds of a call: digests of the questions, earlier
 * answers, and expiry.
 */
type State = { asked: Record<string, string>; answers: Record<string, Wire>; until: number }

/**
 * Multi-round elicitation (`input_required`). This era keeps no state: a call that needs input returns its
 * questions and a `requestState`. The client repeats the call with the answers and that state, which is
 * sealed for the token and bound to the call and its address.
 */
export type Rounds = {
  /**
   * Returns the answers if all are there.
   * @throws InputNeeded
   */
  ask(questions: Questions): Answers
  /** The `requestState` that the client sends with its answers. */
  stateFor(questions: Questions): string
}

type Sent = { inputResponses?: unknown; requestState?: unknown }

/**
 * Opens the rounds of a call.
 * @param call method and arguments of the call
 * @throws InvalidParams if the state has expired or belongs to another call
 */
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
      // An answer is valid only for the exact question that it was given to.
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
      'requestState has expired or belongs to another call. Send the call again without it, and answer the new question.',
    )
  return state
}

/** Keeps the answers to questions that were asked and ignores the rest. */
function answersTo(asked: State['asked'], sent: unknown): Record<string, Wire> {
  if (!isObject(sent)) return {}
  const answers = Object.keys(asked).flatMap((name) => {
    const answer = own(sent, name)
    // Some clients send the whole JSON-RPC message instead of its result. Ask again.
    return isObject(answer) && !('method' in answer || 'result' in answer) ? [[name, answer] as const] : []
  })
  return Object.fromEntries(answers)
}
