import type { Page } from '../engine/page.ts'
import { builder } from './builder.ts'

/** The arguments every list takes. */
export const pageArgs = () => ({
  limit: builder.args((t) => ({
    limit: t.int({ description: 'Items a page, 1 to 1000. 50 when left out.' }),
  })).limit,
  offset: builder.args((t) => ({ offset: t.int({ description: 'Items to step over, from 0.' }) })).offset,
  includeTotal: builder.args((t) => ({
    includeTotal: t.boolean({ description: 'Count all matches, at the cost of a count.' }),
  })).includeTotal,
})

/** The page type of a noun: its items and what is known of the rest. */
export function pageType<T>(name: string, item: { $inferType: T }) {
  return builder.objectRef<Page<T>>(name).implement({
    fields: (t) => ({
      data: t.field({ type: [item] as never, resolve: (page) => page.data as never }),
      hasMore: t.exposeBoolean('hasMore', {
        description: 'True when more matching items lie beyond this page.',
      }),
      limit: t.exposeInt('limit'),
      offset: t.exposeInt('offset'),
      total: t.exposeInt('total', { nullable: true, description: 'All matches; only with includeTotal.' }),
    }),
  })
}
