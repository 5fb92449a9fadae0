/** Commands of previews. */
import type { Noun } from '../command/command.ts'
import { misused } from '../command/failure.ts'
import { commandOf } from '../command/operations.ts'
import { text } from '../command/options.ts'
import { show } from '../command/print.ts'
import { type Actor, actorCell } from '../command/show-changes.ts'
import { resources } from './promotion.ts'

/** A production base has the same path, and is not deleted as a preview. */
function checkId(id: string): void {
  if (!id.includes('--'))
    throw misused(`"${id}" is no preview. Give the whole id, <base>--<name>, such as crm--dev.`)
}

/** Command `plinth discard`. */
export const discard = commandOf('previews.discard', 'discard', {
  summary: 'Take changes out of a change-set, which --base names',
  says: { resources },
})

/** Command `plinth submit`. */
export const submit = commandOf('previews.submit', 'submit', {
  summary: 'Ask a person to promote a change-set, which --base names',
})

/** Command `plinth review <preview> <verdict>`. */
export const review = commandOf('previews.review', 'review', {
  summary: 'Approve a change-set, comment on it, send it back or reject it',
  path: '/:preview/reviews',
  argument: 'verdict',
  says: {
    resources,
    revision: '<n> what you looked at; an approval needs it',
    text: text('-m, --text <text>', 'text', 'what you say'),
  },
})

const COLUMNS = ['id', 'status', 'title', 'created_at', 'description', 'version']
const REVIEW_COLUMNS = ['at', 'by', 'verdict', 'text', 'resources', 'revision', 'is_stale', 'id']

export const preview: Noun = {
  name: 'preview',
  summary: 'Previews: copies of a base to try changes in',
  columns: COLUMNS,
  rows: [
    commandOf('previews.list', 'list', {
      show: ({ body, ...answer }) => {
        const { data, ...rest } = body as {
          data: { change_set: { status: string; title: string | null } | null }[]
        }
        const rows = data.map(({ change_set, ...each }) => ({ ...change_set, ...each }))
        show({ ...answer, body: { ...rest, data: rows } }, COLUMNS)
      },
    }),
    commandOf('bases.get', 'get', {
      summary: 'Show a preview, by its whole id',
      checkId,
      without: ['include'],
    }),
    commandOf('previews.create', 'create', {
      summary: 'Create a preview of a base: <base>--<name>; a change-set needs no name',
      argument: 'name?',
      says: {
        copy: '<what> config (default), config_and_sample: also some records, or on_write: a change-set',
      },
    }),
    commandOf('previews.reviews', 'reviews', {
      summary: 'List what was said about a change-set, which --base names',
      show: ({ body, ...answer }) => {
        const { data, ...rest } = body as { data: { by: Actor }[] }
        const rows = data.map((review) => ({ ...review, by: actorCell(review.by) }))
        show({ ...answer, body: { ...rest, data: rows } }, REVIEW_COLUMNS)
      },
    }),
    commandOf('previews.reopen', 'reopen', {
      summary: 'Open a rejected or expired change-set again, which --base names',
    }),
    commandOf('bases.delete', 'delete', {
      summary: 'Delete a preview, by its whole id, and everything in it',
      checkId,
    }),
  ],
}
