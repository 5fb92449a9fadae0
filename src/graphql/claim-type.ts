/** The GraphQL type of a claim, which records and lists of claims show. */
import type { Claim } from '../engine/data/ledger/record.ts'
import type { Titled } from '../engine/records/titles.ts'
import { builder } from './builder.ts'
import { titleField } from './common.ts'

type Item = Claim & Partial<Titled<object>>

const ClaimHolder = builder.objectRef<Item['holder']>('ClaimHolder').implement({
  description: 'The token that made a claim. It can be gone.',
  fields: (t) => ({
    tokenId: t.exposeString('tokenId'),
    name: t.exposeString('name'),
    kind: t.exposeString('kind', { description: '`person`, `agent` or `program`.' }),
  }),
})

export const ClaimRef = builder.objectRef<Item>('Claim').implement({
  description: 'A record that is assigned to one worker until the lease ends.',
  fields: (t) => ({
    id: t.exposeString('id'),
    recordType: t.exposeString('recordType'),
    recordId: t.exposeString('recordId'),
    status: t.exposeString('status', {
      description: '"active", "completed" or "exhausted"; "released" in the response to a release.',
    }),
    attempts: t.exposeInt('attempts', { description: 'How often the record has been claimed.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime' }),
    holder: t.expose('holder', { type: ClaimHolder }),
    claimedAt: t.expose('claimedAt', { type: 'DateTime' }),
    title: titleField(t),
  }),
})
