/** Commands of review requests. */
import type { Noun } from '../command/command.ts'
import { commandOf } from '../command/operations.ts'
import { migration, resources } from './promotion.ts'

export const reviewRequest: Noun = {
  name: 'review-request',
  summary: 'What waits for a person: promotions that somebody asked for, and tokens that are paused',
  columns: ['id', 'kind', 'title', 'summary', 'by', 'at', 'state', 'may_decide'],
  rows: [
    commandOf('reviewRequests.list', 'list', { says: { state: '<open|decided> defaults to open' } }),
    commandOf('reviewRequests.get', 'get', {
      summary: 'Get a review request, with what it would change now',
    }),
    commandOf('reviewRequests.create', 'ask', {
      summary: 'Ask a person for a promotion',
      argument: 'from?',
      without: ['kind'],
      says: { prune: 'also delete what the preview deleted', resources, migration },
    }),
    commandOf('reviewRequests.decision', 'decide', {
      summary: 'Decide a review request; accepting promotes, or resumes the token',
      argument: 'decision',
      says: { resources, migration, resolve: 'how each conflict of a change-set ends' },
    }),
  ],
}
