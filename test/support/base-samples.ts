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
