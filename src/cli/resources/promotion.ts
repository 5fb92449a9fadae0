/** Commands of promotions. */
import type { Noun, Row } from '../command/command.ts'
import { misused } from '../command/failure.ts'
import { commandOf } from '../command/operations.ts'
import { type Option, orJson, yes } from '../command/options.ts'
import { proposalExit, showDone, showProposal } from '../command/show-changes.ts'

export const resources: Option = {
  flags: '--resource <kind/id>',
  about:
    'only this resource, such as record_type/deal, or record/deal/d1 of a change-set; or JSON, which can name fields; can be repeated',
  to: { body: 'resources' },
  several: true,
  read: orJson((text) => {
    const [, kind, id] = /^(\w+)\/(.+)$/.exec(text) ?? []
    if (kind === undefined) throw misused('--resource must be a kind and an id, such as record_type/deal.')
    if (kind !== 'record') return { kind, id }
    const [recordType = '', ...rest] = id?.split('/') ?? []
    return { kind, record_type: recordType, id: rest.join('/') }
  }),
}

export const migration = 'the steps that migrate records, by record type'
const selection = {
  ...{ prune: 'also delete what the preview deleted', resources, migration },
  resolve: 'of a change-set, how conflicts end: a list of { record_type, id, field, take }',
}

/** Command `plinth propose [from]`. */
export const propose = commandOf('promotions.propose', 'propose', {
  summary:
    'Show what a promotion would change, and what prevents it; it does not need admin. Exit code 0: nothing, 2: changes, 1: prevented, 64: wrong usage',
  argument: 'from?',
  says: selection,
  show: showProposal,
  exitCode: proposalExit,
})

/** To the revision of a change-set, or the hash of a preview of configuration, unless one is given. */
const bindToProposal: Row['binds'] = async (request, send) => {
  const { force, revision, hash, ...asked } = JSON.parse(request.body ?? '{}')
  const proposal = {
    path: `${request.path}/proposal`,
    query: new URLSearchParams(),
    body: JSON.stringify(asked),
  }
  const { revision: latest, hash: shown } = (await send({ ...request, ...proposal })).body as Shown
  const seen = { revision: revision ?? latest, hash: hash ?? shown }
  return { ...request, body: JSON.stringify({ ...asked, force, ...seen }) }
}
type Shown = { revision?: number; hash?: string }

/** Command `plinth promote <from>`. */
export const promote = commandOf('promotions.create', 'promote', {
  summary: 'Apply the changes of a preview to its production base; on a terminal, show them and ask first',
  argument: 'from',
  says: {
    force: 'take the preview where both sides changed; delete types with their records',
    revision: '<n> of a change-set, what you looked at; another one is refused',
    hash: 'of a preview of configuration, the hash of what you looked at; another one is refused',
    ...selection,
  },
  also: [yes],
  asks: 'Apply these changes?',
  binds: bindToProposal,
  show: showDone,
})

/** Command `plinth rollback <promotion_id>`. */
export const rollback = commandOf('promotions.rollBack', 'rollback', {
  summary: 'Undo a promotion, or a part of it',
  argument: 'promotion_id',
  says: { resources, migration },
  show: showDone,
})

export const promotion: Noun = {
  name: 'promotion',
  summary: 'The history of promotions and rollbacks of a base',
  columns: ['id', 'kind', 'from', 'status', 'created_at', 'created_by_name'],
  rows: [commandOf('promotions.list', 'list'), commandOf('promotions.get', 'get')],
}
