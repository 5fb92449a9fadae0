/** Asks with every kind of token, and compares each answer with what the oracle says of the token alone. */
import { sampleOf } from '../support/cases.ts'
import type { Holder, Need } from '../support/oracle.ts'
import { digestOf } from '../support/table-digests.ts'
import type { World } from '../support/world.ts'

/** In data and configuration of a type that tokens for one type do not name. */
export const CANARY = 'canary-71c4'

export type Rule = {
  need: Need
  /**
   * What it says without the right, if it is not that it is forbidden: that there is no such thing, since the id names no
   * type, that there is none of those listed, or no relation, field or argument of the name.
   */
  hides?: 'id' | 'ids' | 'relation'
  /** What it writes can be a proposal. */
  proposes?: true
}
/** The same rule for several names, which spaces divide, or what is given. */
export const group = (rule: Rule, names: string, between = /\s+/): [string, Rule][] =>
  names
    .trim()
    .split(between)
    .map((name) => [name, rule])

/** An answer of any surface: the code of its error, or null. */
type Told = { code: string | null; text: string; hasNone?: boolean }
/** Something to ask of a base. What is allowed is asked for as a dry run, where there is one. */
export type Question = {
  name: string
  base: string
  rule: Rule
  ask(holder: Holder, isAllowed: boolean): Promise<Told>
}

export const isAllowed = ({ rule, base }: Question, holder: Holder): boolean =>
  !holder.dead && rule.need(holder.grants, base, rule.proposes ?? false)

const HIDING = { id: 'NOT_FOUND', relation: 'VALIDATION_ERROR', ids: null } as const
function isRefusal({ hides }: Rule, { code, hasNone = false }: Told): boolean {
  if (code === 'FORBIDDEN') return true
  return hides !== undefined && code === HIDING[hides] && (hides !== 'ids' || hasNone)
}

/** What is wrong with the answer, or null. */
function wrongOf(question: Question, holder: Holder, told: Told): string | null {
  const { code, text } = told
  const said = `${holder.name}: ${question.name} of ${question.base} is ${code}: ${text.slice(0, 300)}`
  if (code === 'INTERNAL_ERROR') return said
  if (holder.dead) return code === 'UNAUTHORIZED' ? null : said
  const seesAll = holder.grants.some(({ record_type }) => record_type === '*')
  if (!seesAll && text.includes(CANARY)) return `shows ${CANARY}: ${said}`
  if (isAllowed(question, holder)) return ['UNAUTHORIZED', 'FORBIDDEN'].includes(code ?? '') ? said : null
  return isRefusal(question.rule, told) ? null : `not refused: ${said}`
}

type Pair = { question: Question; holder: Holder }

/** Asks a sample of all questions with all tokens. Returns what was wrong, and the tables that what is refused changed. */
export async function wrongAnswers(
  world: World,
  questions: readonly Question[],
  holders: readonly Holder[],
  weight: number,
): Promise<string[]> {
  const wrong: string[] = []
  const askAll = async (pairs: readonly Pair[]) => {
    for (const { question, holder } of pairs) {
      const told = await question.ask(holder, isAllowed(question, holder))
      const found = wrongOf(question, holder, told)
      if (found) wrong.push(found)
    }
  }
  const pairs = questions.flatMap((question) => holders.map((holder) => ({ question, holder })))
  const sample = sampleOf(pairs, weight)
  // A few of the allowed have no dry run.
  await askAll(sample.filter(({ question, holder }) => isAllowed(question, holder)))
  const before = await digestOf(world)
  await askAll(sample.filter(({ question, holder }) => !isAllowed(question, holder)))
  const after = await digestOf(world)
  return [...wrong, ...Object.keys(after).filter((table) => after[table] !== before[table])]
}
