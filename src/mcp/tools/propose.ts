/** The tool propose: what a promotion would change, to show a person, and the request to decide on it. */
import { z } from 'zod'
import {
  changeLines,
  countLine,
  keptLines,
  obstacleLines,
  rewrittenLines,
  warningLines,
} from '../../contract/change-lines.ts'
import { anyPreviewOf, productionOf } from '../../contract/ids.ts'
import { trim } from '../../contract/response-bodies.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { omitUndefined } from '../../foundation/omit-undefined.ts'
import type { Context } from '../../graphql/context.ts'
import { graphql } from '../../graphql/document.ts'
import { staticOperation } from '../../graphql/execute.ts'
import { ReadResult } from '../budget/read-result.ts'
import type { Caller } from '../protocol/provider.ts'
import { refuseOthers } from '../tool/refuse-others.ts'
import { reading, type TwoSided, tool } from '../tool/tool.ts'
import type { CalledAt, Given } from '../tool/tool-call.ts'
import { sealDecision } from '../views/decisions.ts'
import { changesForView, forView, reviewUrl } from '../views/views.ts'
import { chosen, metaOf, named, type Proposal } from './environments.ts'
import { type Approvals, lifeIn } from './review.ts'

const propose =
  staticOperation(`query ToolPropose($base: String!, $from: String, $prune: Boolean, $resources: JSON, $migration: JSON, $resolve: JSON) {
    proposal(base: $base, from: $from, prune: $prune, resources: $resources, migration: $migration, resolve: $resolve) {
      from base_id: baseId changes summary conflicts breaks revision kept records_rewritten: recordsRewritten warnings
    }
  }`)
const ToolRequest = graphql(`fragment ToolRequest on ReviewRequest {
  id from at title state note decision { decision note by { name } at }
}`)
const ask = staticOperation(
  `mutation ToolAskForReview($base: String!, $from: String, $prune: Boolean, $resources: JSON, $migration: JSON, $title: String, $note: String) {
    done: askForReview(base: $base, from: $from, prune: $prune, resources: $resources, migration: $migration, title: $title, note: $note) { ...ToolRequest }
  }`,
  [ToolRequest],
)
const asked = staticOperation(
  `query ToolReviewRequest($base: String!, $from: String) {
    newest: newestReviewRequest(base: $base, from: $from) { ...ToolRequest }
  }`,
  [ToolRequest],
)
const waitingIn = staticOperation(`query ToolReviewRequests($base: String!, $limit: Int) {
  page: reviewRequests(base: $base, limit: $limit) {
    data { id from title note mayDecide by { name kind } at }
  }
}`)

const WHAT =
  'What promoting a preview would change in production, and what its records break: a plan to show a person.'
const HOW_DECIDED = 'he answer says how the newest request was decided.'

const input = z.strictObject({
  ...chosen,
  submit: z.boolean().optional().meta({ description: 'Ask a person to promote it.' }),
  title: z.string().optional(),
  comment: z.string().optional().meta({ description: 'A word to the person.' }),
  ...reading,
})

async function show(
  { base_id, from, max_tokens: _, submit: isAsked, title, comment: note, ...selected }: Given<typeof input>,
  context: Context,
  _caller: Caller,
  { at, hasViews, publicUrl }: CalledAt,
): Promise<ReadResult> {
  const { resolve, ...asking } = selected
  if (isAsked) refuseOthers({ resolve }, 'Who decides says how conflicts end.')
  else refuseOthers({ title, comment: note }, 'Nobody is asked without submit: true.')
  const base = productionOf(base_id)
  const places = { base, ...omitUndefined({ from: from ?? (base_id === base ? undefined : base_id) }) }
  const request = isAsked
    ? (await ask({ ...places, ...omitUndefined({ ...asking, title, note }) }, context)).done
    : (await asked(places, context)).newest
  const seen = request ? { ...places, from: request.from } : places
  const { proposal } = await propose({ ...seen, ...omitUndefined(selected) }, context)
  const { changes, conflicts, breaks, revision, kept, records_rewritten, warnings, ...about } =
    proposal as unknown as Proposal
  const isFree = conflicts.length + breaks.length === 0
  const life = revision === null ? undefined : await lifeIn(about.from, context)
  const answer = new ReadResult({
    ...about,
    ...(revision !== null && { revision }),
    promotable: isFree,
    plan: planText({ changes, conflicts, breaks, kept, records_rewritten, warnings }),
    changes: changes.map(named),
    conflicts,
    breaks,
    ...(kept && { kept: kept.slice(0, LIMITS.promotionChangesShown) }),
    ...metaOf({ warnings, records_rewritten }),
    ...(request && { review_request: requestBody(request) }),
    ...life,
    ...(request?.state === 'open' && !hasViews && publicUrl && { review_url: reviewUrl(publicUrl, base) }),
    next: request?.state === 'open' ? waitFor(life?.approvals) : isFree ? advice(request?.state) : REPAIR,
  })
  if (!hasViews) return answer
  const waiting = await openRequest(base, about.from, context)
  const isTheirs = waiting?.mayDecide === true && isFree
  return forView(answer, {
    changes: changesForView(changes),
    ...(waiting && { request: trim(waiting) }),
    ...(publicUrl && { url: reviewUrl(publicUrl, base) }),
    ...(isTheirs && {
      decision: sealDecision(context, at, { of: 'request', base, id: waiting.id, revision }),
    }),
  })
}

/** Without the preview, which the answer names already. */
const requestBody = ({ from: _, ...request }: NonNullable<Awaited<ReturnType<typeof asked>>['newest']>) =>
  trim(request)

/** What waits for a decision on the preview, whoever asked for it. */
async function openRequest(base: string, from: string, context: Context) {
  const { page } = await waitingIn({ base, limit: LIMITS.viewRequests }, context)
  return page.data.find((each) => each.from === from)
}

const shown = { isUnlisted: true, ofWhole: 'read', run: show } as const
const submitted = {
  ...shown,
  permission: 'write',
  hints: { idempotent: true },
  plans: 'promotion',
  decidesAt: (base: string) => anyPreviewOf(productionOf(base)),
} as const

const whole = tool('propose', {
  ...submitted,
  title: 'Propose a promotion',
  description: `${WHAT} \`submit\` puts it on the list of what waits for a person; t${HOW_DECIDED}`,
  input,
})

const unlisted = { listed: false }

/** For tokens that may write to no preview, and at addresses that only read: it asks nobody. */
const showing = tool('propose', {
  ...shown,
  title: 'Propose a promotion',
  description: `${WHAT} T${HOW_DECIDED}`,
  permission: 'read',
  decidesAt: productionOf,
  input: input.extend({
    submit: input.shape.submit.meta(unlisted),
    title: input.shape.title.meta(unlisted),
    comment: input.shape.comment.meta(unlisted),
  }),
})

/** As the list shows it to a token that proposes: what it wrote is asked about as a whole. */
export const asking = tool('propose', {
  ...submitted,
  title: 'Propose what you wrote',
  description:
    'What you have proposed here, and how it was decided. `submit` puts it before a person: finish with it.',
  input: input.extend({
    from: chosen.from.meta(unlisted),
    prune: chosen.prune.meta(unlisted),
    resources: chosen.resources.meta(unlisted),
    migration: chosen.migration.meta(unlisted),
    resolve: chosen.resolve.meta(unlisted),
  }),
})

// Calls run the whole tool, so that `submit` fails with FORBIDDEN and not as unknown.
export const proposeTools: readonly TwoSided[] = [{ ...whole, reads: { ...showing, call: whole.call } }]

/** The proposal as a text to show a person. */
const planText = ({
  changes,
  conflicts,
  breaks,
  kept,
  records_rewritten: rewritten,
  warnings,
}: Omit<Proposal, 'from' | 'base_id' | 'summary' | 'revision'>): string =>
  [
    ...changeLines(changes).map(({ text }) => text),
    ...obstacleLines(conflicts, breaks),
    countLine(changes, 'due'),
    ...rewrittenLines(rewritten ?? {}, 'due'),
    ...keptLines(kept ?? [], 'Send prune'),
    ...warningLines(warnings ?? []),
  ].join('\n')

const advice = (state: string | undefined) =>
  state === 'sent_back'
    ? 'It was sent back: change what note of the decision asks for, then call propose with submit: true.'
    : 'Show plan to a person who may promote it, or call propose with submit: true to ask one.'
const LATER = 'Call propose again later: review_request says how.'
/** Who decides. The acceptance of a request is the last approval. */
function waitFor({ needed, given }: Approvals = { needed: 0, given: 0 }): string {
  const left = needed - given
  const who = 'whose token may promote here, and who did not ask'
  if (left <= 1) return `One person decides, ${who}. ${LATER}`
  return `${left} people approve this revision, ${who}: the last of them promotes. ${LATER}`
}
const REPAIR =
  'Repair conflicts and breaks first: bring the changes of production into the preview, or change records so that they fit.'
