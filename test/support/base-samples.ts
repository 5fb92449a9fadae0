/** A sample of every field that the record type `task` has at `/graphql/crm`, after `fillGraph`. `$claim` is filled in. */
const SEEN =
  '{ id _type _version _status _data _history { version } _attachments { filename } title next { nodes { id } } }'
const WRITTEN = `{ task ${SEEN} operation dryRun warnings }`

export const BASE_QUERIES: Readonly<Record<string, string>> = {
  _base: '_base',
  task: `task(id: "a") ${SEEN}`,
  taskRecords: `taskRecords(where: {title: {like: "%a%"}}, sort: [{title: ASC}], first: 5) { nodes ${SEEN} pageInfo { endCursor } totalCount }`,
  taskAggregate: 'taskAggregate(groupBy: [{title: true}], first: 5) { count group { title } max { title } }',
  task_fromSource: 'task_fromSource(externalSource: "up", id: "a") { _externalId _data title }',
  taskRecords_fromSource:
    'taskRecords_fromSource(externalSource: "up", first: 2) { nodes { title } hasMore }',
}
export const BASE_MUTATIONS: Readonly<Record<string, string>> = {
  createTask: `createTask(id: "n", data: {title: "n", _more: {x: 1}}, links: {next: [{id: "a", recordType: "task"}]} $dry) ${WRITTEN}`,
  updateTask: `updateTask(id: "a", data: {title: "n"}, expectedVersion: 2 $dry) ${WRITTEN}`,
  upsertTask: `upsertTask(externalId: "e", data: {title: "n"} $dry) ${WRITTEN}`,
  deleteTask: 'deleteTask(id: "a" $dry) { id deleted dryRun plan { token } }',
  cancelTask: `cancelTask(id: "a" $dry) ${WRITTEN}`,
  restoreTask: `restoreTask(id: "gone" $dry) ${WRITTEN}`,
  attachTask: 'attachTask(id: "a", filename: "n.txt", content: "x" $dry) { id status }',
  claimTask:
    'claimTask(where: {title: {eq: "a"}}, first: 1, leaseSeconds: 60 $dry) { claim { id } task { id } }',
  completeTask: 'completeTask(claimId: "$claim" $dry) { id status }',
  releaseTask: 'releaseTask(claimId: "$claim" $dry) { id status }',
}
export const BASE_SUBSCRIPTIONS: Readonly<Record<string, string>> = {
  taskChanges: `taskChanges(after: 0) { seq operation id version diff actor { name } record ${SEEN} }`,
}

/** An endpoint with every field that one can have: its body, and a sample of each field at `/graphql/crm/e/desk`. */
export const DESK = {
  tools: [
    {
      record_type: 'task',
      operations: [
        ...['create', 'get', 'list', 'update', 'upsert', 'delete', 'cancel'],
        ...['aggregate', 'history', 'claim', 'attach'],
      ],
    },
  ],
  relationships: [{ rel_type: 'next', operations: ['link', 'unlink', 'related'] }],
  resources: true,
  undo: true,
}
const { restoreTask: _, ...writes } = BASE_MUTATIONS
export const DESK_MUTATIONS: typeof BASE_MUTATIONS = {
  ...writes,
  _undo: '_undo(idempotencyKey: "undone" $dry) { count undone skipped dryRun }',
}
export const DESK_SUBSCRIPTIONS: typeof BASE_SUBSCRIPTIONS = {
  taskChanges: `taskChanges { seq operation id version record ${SEEN} }`,
}
