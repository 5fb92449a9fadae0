/** Commands of promotions. */
import type { Noun, Row } from '../command/command.ts'
import { misused } from '../command/failure.ts'
import { json, type Option, paging, writing, yes } from '../command/options.ts'
import { proposalExit, showDone, showProposal } from '../command/show-changes.ts'

const flag = (flags: string, name: string, about: string): Option => ({
  flags,
  about,
  to: { body: name },
  value: true,
})

const resources: Option = {
  flags: '--resource <kind/id>',
  about: 'only this resource, such as record_type/deal; can be repeated',
  to: { body: 'resources' },
  several: true,
  read: (text) => {
    const [, kind, id] = /^(\w+)\/(.+)$/.exec(text) ?? []
    if (kind === undefined) throw misused('--resource must be a kind and an id, such as record_type/deal.')
    return { kind, id }
  },
}

const migration = json('--migration <json>', 'migration', 'the steps that migrate records, by record type')

const selection = [flag('--prune', 'prune', 'also delete what the preview deleted'), resources, migration]

/** Command `plinth propose <from>`. */
export const propose: Row = {
  name: 'propose',
  summary:
    'Show what a promotion would change, and what prevents it; it does not need admin. Exit code 0: nothing, 2: changes, 1: prevented, 64: wrong usage',
  method: 'POST',
  path: '/:base_id/promote/proposal',
  argument: 'from',
  options: selection,
  show: showProposal,
  exitCode: proposalExit,
}

/** Command `plinth promote <from>`. */
export const promote: Row = {
  name: 'promote',
  summary: 'Apply the changes of a preview to its production base; on a terminal, show them and ask first',
  method: 'POST',
  path: '/:base_id/promote',
  argument: 'from',
  options: [
    flag('--force', 'force', 'take the preview where both sides changed; delete types with their records'),
    ...selection,
    yes,
    ...writing,
  ],
  asks: 'Apply these changes?',
  show: showDone,
}

/** Command `plinth rollback <promotion_id>`. */
export const rollback: Row = {
  name: 'rollback',
  summary: 'Undo a promotion',
  method: 'POST',
  path: '/:base_id/promote/rollback',
  argument: 'promotion_id',
  options: [migration, ...writing],
  show: showDone,
}

export const promotion: Noun = {
  name: 'promotion',
  summary: 'The history of promotions and rollbacks of a base',
  columns: ['id', 'kind', 'from', 'status', 'created_at', 'created_by_name'],
  rows: [
    {
      name: 'list',
      summary: 'List promotions and rollbacks, newest first',
      method: 'GET',
      path: '/:base_id/promotions',
      options: paging,
    },
    {
      name: 'get',
      summary: 'Show a promotion or rollback',
      method: 'GET',
      path: '/:base_id/promotions/:id',
      options: [],
    },
  ],
}
