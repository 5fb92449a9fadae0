/** What people and models read about a plan, by its kind. The sentence of a plan starts with `does`. */
const WORDS = {
  deletion: {
    does: 'Deletes',
    asks: 'Delete',
    nothing: 'Delete nothing',
    notYet: 'Nothing is deleted yet.',
    refused: 'Nothing was deleted.',
  },
  undo: {
    does: 'Undoes',
    asks: 'Undo',
    nothing: 'Undo nothing',
    notYet: 'Nothing is undone yet.',
    refused: 'Nothing was undone.',
  },
  promotion: {
    does: 'Promotes',
    asks: 'Promote',
    nothing: 'Promote nothing',
    notYet: 'Nothing is promoted yet.',
    refused: 'Nothing was promoted.',
  },
} as const

export type PlanKind = keyof typeof WORDS

export const wordsOf = (kind: PlanKind): (typeof WORDS)[PlanKind] => WORDS[kind]

/** What an answer has beside a plan: its token, and how to confirm it. */
export const awaiting = (kind: PlanKind, { token, expiresAt }: { token: string; expiresAt: string }) => ({
  plan_token: token,
  expires_at: expiresAt,
  next: `${WORDS[kind].notYet} To confirm, send plan_token alone.`,
})
