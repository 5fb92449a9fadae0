import type { Page } from '../engine/core/page.ts'
import { builder } from './builder.ts'

/** Pagination arguments of every list. */
export const pageArgs = () =>
  builder.args((t) => ({
    ...windowArgs(),
    cursor: t.string({ description: 'Where the page starts: `nextCursor` of the previous page.' }),
  }))

/** Those of a list without cursors. */
export const windowArgs = () =>
  builder.args((t) => ({
    limit: t.int({ description: 'Items per page, 1 to 1000. Defaults to 50.' }),
    offset: t.int({ description: 'Items to skip, from 0.' }),
    includeTotal: t.boolean({ description: 'Whether to count all matches. This runs a count query.' }),
  }))

type Fields<T extends object> = PothosSchemaTypes.ObjectFieldBuilder<typeof builder.$inferSchemaTypes, T>

type Window = Omit<Page<unknown>, 'data' | 'nextCursor' | 'cursors'>

/** Pagination fields of a page without cursors. */
export const windowFields = <T extends Window>(t: Fields<T>) => ({
  hasMore: t.boolean({
    description: 'True if there are more matching items after this page.',
    resolve: (page) => page.hasMore,
  }),
  truncated: t.boolean({
    nullable: true,
    description:
      'True if the page reached its byte limit before its item limit. `limit` is then the number of items returned.',
    resolve: (page) => page.truncated,
  }),
  limit: t.int({ resolve: (page) => page.limit }),
  offset: t.int({ resolve: (page) => page.offset }),
  total: t.int({
    nullable: true,
    description: 'All matches; only with includeTotal.',
    resolve: (page) => page.total,
  }),
})

/** Pagination fields of every page. */
export const pageFields = <T extends Omit<Page<unknown>, 'data'>>(t: Fields<T>) => ({
  ...windowFields(t),
  nextCursor: t.string({
    nullable: true,
    description: 'Where the next page starts; null on the last one.',
    resolve: (page) => page.nextCursor,
  }),
  cursors: t.field({
    type: 'JSON',
    nullable: true,
    description: 'For each item, the cursor of a page that starts after it.',
    resolve: (page) => page.cursors,
  }),
})

/** Defines the page type of a noun. */
export function pageType<T>(name: string, item: { $inferType: T }) {
  return builder.objectRef<Page<T>>(name).implement({
    fields: (t) => ({
      data: t.field({ type: [item] as never, resolve: (page) => page.data as never }),
      ...pageFields(t),
    }),
  })
}
