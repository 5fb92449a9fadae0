/** All REST routes of records. */
import { z } from 'zod'
import { splitNames } from '../../contract/field-list.ts'
import { trim } from '../../contract/response-bodies.ts'
import { asOf, names, whole } from '../route/query.ts'
import { route, tagged } from '../route/route.ts'
import { onType } from '../route/shapes.ts'
import { recordActs } from './actions.ts'
import { target } from './fragments.ts'
import { EXPAND, include, recordLists } from './lists.ts'
import { recordPatch } from './patch.ts'
import { recordPuts } from './puts.ts'
import { OneRecord } from './shapes.ts'
import { externalSource, GetRecord, nowhere, oneAnywhere, oneFrom } from './sources.ts'

const past = z.strictObject({
  version: whole(1, 2_147_483_647, undefined, 'The version to return.'),
  as_of: asOf,
})
export const records = tagged('Records', [
  ...recordLists,
  ...recordPuts,
  route('GET /:base_id/records/:record_type/:id', {
    summary: 'Get a record: its current state, one of its versions, or its state at a time',
    need: onType('read'),
    params: oneAnywhere,
    query: past.extend({ expand: names(EXPAND), include, external_source: externalSource }),
    cuts: true,
    versioned: true,
    operation: GetRecord,
    variables: ({ params, query }) => ({
      ...target(params),
      ...oneFrom(query.external_source, params.id, {
        version: query.version,
        as_of: query.as_of,
        expand: query.expand,
        include: query.include,
      }),
      version: query.version,
      asOf: query.as_of,
      include: query.include && [query.include],
      withClaim: query.include !== undefined,
      ...(query.expand !== undefined && { expand: splitNames(query.expand, 'query/expand') }),
    }),
    reply: ({ record, sourceRecord }) => ({
      // A claim that nobody holds is null, where it was asked for.
      body: {
        ...trim(record ?? sourceRecord ?? nowhere()),
        ...(record && 'claim' in record && { claim: record.claim }),
      },
    }),
    answers: OneRecord,
  }),
  ...recordPatch,
  ...recordActs,
])
