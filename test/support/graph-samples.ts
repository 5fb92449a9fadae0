/** A sample of every field of the internal GraphQL schema, and what they need in the base `crm`. */
import { toCamel } from '../../src/contract/field-names.ts'
import { succeed } from './answers.ts'
import { FAILED_DELIVERY, homeOf, leastOf, PLAIN_NOUNS } from './kinds.ts'
import type { Body } from './server.ts'
import { json, type Upstream } from './upstream.ts'
import type { World } from './world.ts'

/** A value as GraphQL writes it. */
const literal = (value: unknown): string => JSON.stringify(value).replaceAll(/"([a-z_]+)":/g, '$1: ')

/** The kinds of configuration except types; `prepare` creates one named `desk` of each. */
const PLAIN_KINDS = PLAIN_NOUNS.map((noun) => {
  const one = toCamel(noun.replace(/s$/, '').replaceAll('-', '_'))
  return {
    one,
    input: `{name: "N"${Object.entries(leastOf(noun)).map(([name, value]) => `, ${toCamel(name)}: ${literal(value)}`)}}`,
    name: `${one.charAt(0).toUpperCase()}${one.slice(1)}`,
    base: homeOf(noun, 'crm', 'crm--kept'),
  }
})
type PlainKind = (typeof PLAIN_KINDS)[number]
const queriesOf = ({ one, base }: PlainKind) => ({
  [one]: `${one}(base: "${base}", id: "desk") { id }`,
  [`${one}s`]: `${one}s(base: "${base}") { data { id } }`,
})
const mutationsOf = ({ name, base, input }: PlainKind) => ({
  [`put${name}`]: `put${name}(base: "${base}", id: "desk", input: ${input} $dry) { id }`,
  [`patch${name}`]: `patch${name}(base: "${base}", id: "desk", input: { name: "N" } $dry) { id }`,
  [`delete${name}`]: `delete${name}(base: "${base}", id: "desk" $dry) { id }`,
})

/** A selection of each field on the base `crm`; `$claim` and `$seq` are filled in. */
export const QUERIES: Record<string, string> = {
  ...Object.assign({}, ...PLAIN_KINDS.map(queriesOf)),
  aggregate: 'aggregate(base: "crm", recordType: "task", aggregations: [{fn: "count"}]) { rows }',
  aggregateBases:
    'aggregateBases(bases: ["crm"], recordType: "task", aggregations: [{fn: "count"}]) { rows }',
  attachment:
    'attachment(base: "crm", recordType: "task", recordId: "a", filename: "note") { id filename url }',
  attachmentById:
    'attachmentById(base: "crm", recordType: "task", recordId: "a", id: "$attachment") { id status }',
  attachments: 'attachments(base: "crm", recordType: "task", recordId: "a") { data { id filename } }',
  base: 'base(id: "crm") { id name }',
  baseExport: 'baseExport(base: "crm") { base filename }',
  files: 'files(base: "crm", fileType: "paper") { data { path } }',
  file: 'file(base: "crm", fileType: "paper", path: "a.txt") { path }',
  fileText: 'fileText(base: "crm", fileType: "paper", path: "a.txt") { text lines }',
  searchFiles: 'searchFiles(base: "crm", search: "a") { data { searchScore } }',
  seesFileTypes: 'seesFileTypes(base: "crm")',
  fileKeys: 'fileKeys(base: "crm", prefix: "paper/", folders: true) { more entries { key } }',
  fileStorage: 'fileStorage(base: "crm", fileType: "paper")',
  fileUploads: 'fileUploads(base: "crm") { data { id path } more }',
  fileUploadParts:
    'fileUploadParts(base: "crm", fileType: "paper", path: "u.bin", id: "$upload") { data { number } }',
  s3Credentials: 's3Credentials(base: "crm") { data { id masked } }',
  fileVersions: 'fileVersions(base: "crm", fileType: "paper", path: "a.txt") { data { version } }',
  fileDiff: 'fileDiff(base: "crm", fileType: "paper", path: "a.txt", from: 1, to: 1) { diff }',
  actionRun: 'actionRun(base: "crm", action: "desk", id: "$run") { id status }',
  actionRuns: 'actionRuns(base: "crm", action: "desk") { data { id status } }',
  inboundDeliveries: 'inboundDeliveries(base: "crm", webhook: "desk") { data { id status } }',
  triggerDeliveries: 'triggerDeliveries(base: "crm", trigger: "desk") { data { id status } }',
  bases: 'bases { data { id } }',
  calls: 'calls(base: "crm", tool: "none") { data { id outcome } nextBefore }',
  usage: 'usage(base: "crm", tool: "none") { at calls }',
  changes: 'changes(base: "crm", limit: 2) { data { seq kind } nextAfter }',
  changeGroups:
    'changeGroups(base: "crm", limit: 2) { data { requestId count by { operation } } nextBefore }',
  changeTrace: 'changeTrace(base: "crm", seq: $seq) { causes { kind id } }',
  changesEnd: 'changesEnd(base: "crm")',
  changesMatch:
    'changesMatch(base: "crm", recordType: "task", seqs: [$seq], filter: {field: "data.title", op: "eq", value: "a"})',
  claim: 'claim(base: "crm", id: "$claim") { id }',
  claims: 'claims(base: "crm") { data { id } }',
  config: 'config(base: "crm")',
  configSchema: 'configSchema(base: "crm")',
  configDiff: 'configDiff(base: "crm", config: {plinth: 1, base: "crm"}) { changes }',
  configurationHistory:
    'configurationHistory(base: "crm", kind: "record_type", id: "task") { data { version operation } }',
  definition: 'definition(base: "crm", kind: "trigger", id: "desk") { id body }',
  definitions: 'definitions(base: "crm", kind: "inbound_webhook") { data { id body } }',
  exportTools: 'exportTools(base: "crm", provider: "openai") { tools }',
  outlinedLinks: 'outlinedLinks(base: "crm") { id source target }',
  outlinedFileTypes: 'outlinedFileTypes(base: "crm")',
  outlinedTypes: 'outlinedTypes(base: "crm") { types { id } total }',
  visibleTypes: 'visibleTypes(base: "crm") { key types { id graphqlName description schemaText writable } }',
  ownToken: 'ownToken { id grants }',
  previews: 'previews(base: "crm", status: open) { data { id } }',
  changeSetReviews: 'changeSetReviews(base: "crm--drafts") { data { id verdict } }',
  promotion: 'promotion(base: "crm", id: "$promotion") { id changes }',
  deliveries: 'deliveries(base: "crm") { data { id } }',
  diagnostics: 'diagnostics { status }',
  promotions: 'promotions(base: "crm") { data { id } }',
  proposal: 'proposal(base: "crm", from: "crm--kept") { changes breaks }',
  queryBases: 'queryBases(bases: ["crm"], recordType: "task") { rows }',
  record: 'record(base: "crm", recordType: "task", id: "a") { id data }',
  recordHistory: 'recordHistory(base: "crm", recordType: "task", id: "a") { data { version } }',
  recordType: 'recordType(base: "crm", id: "task") { id jsonSchema }',
  inferredSchema: 'inferredSchema(base: "crm", id: "task") { jsonSchema read }',
  recordTypeProfile: 'recordTypeProfile(base: "crm", id: "task") { count }',
  recordTypes: 'recordTypes(base: "crm") { data { id } }',
  records: 'records(base: "crm", recordType: "task") { data { id } }',
  related: 'related(base: "crm", recordType: "task", id: "a") { rows }',
  relationship: 'relationship(base: "crm", id: "l") { id }',
  relationshipType: 'relationshipType(base: "crm", id: "next") { id }',
  relationshipTypes: 'relationshipTypes(base: "crm") { data { id } }',
  relationships: 'relationships(base: "crm") { data { id } }',
  reviewRequest: 'reviewRequest(base: "crm", id: "$review") { id breaks proposal { changes } }',
  newestReviewRequest: 'newestReviewRequest(base: "crm", from: "crm--asked") { id }',
  reviewRequests: 'reviewRequests(base: "crm") { data { id } }',
  secret: 'secret(name: "KEY") { name bases }',
  secrets: 'secrets { data { name bases } }',
  servedEndpoint: 'servedEndpoint(base: "crm", id: "desk") { __typename }',
  sourceRecord: 'sourceRecord(base: "crm", recordType: "task", source: "up", id: "a") { id data }',
  sourceRecords: 'sourceRecords(base: "crm", recordType: "task", source: "up") { rows hasMore }',
  sql: 'sql(base: "crm", query: "SELECT count(*) AS n FROM task") { data }',
  token: 'token(id: "$token") { id }',
  tokens: 'tokens { data { id } }',
  trash: 'trash(base: "crm") { data { deletedAt } }',
  waitForChange: 'waitForChange(base: "crm", after: 0, timeout: 1) { change { seq } nextAfter }',
  waitForRecords: 'waitForRecords(base: "crm", recordType: "task", timeout: 1) { rows }',
}
/** The content that the attachment has already. */
const SHA256_OF_X = '2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881'
const LINK =
  'relType: "next", sourceRecordType: "task", sourceId: "b", targetRecordType: "task", targetId: "a"'
export const MUTATIONS: Record<string, string> = {
  actOnClaims: 'actOnClaims(base: "crm", action: heartbeat, ids: ["$claim"] $dry) { data { id code } }',
  ...Object.assign({}, ...PLAIN_KINDS.map(mutationsOf)),
  patchAction: 'patchAction(base: "crm", id: "desk", input: {name: "N"} $dry) { id steps }',
  runAction: 'runAction(base: "crm", id: "desk" $dry) { runId status output steps }',
  patchInboundWebhook:
    'patchInboundWebhook(base: "crm", id: "desk", input: {name: "N"} $dry) { id ingestUrl }',
  replayInboundDelivery:
    'replayInboundDelivery(base: "crm", id: "desk", delivery: "failed" $dry) { id status }',
  patchTrigger: 'patchTrigger(base: "crm", id: "desk", input: {name: "N"} $dry) { id status }',
  rotateTriggerSecret: 'rotateTriggerSecret(base: "crm", id: "desk" $dry) { id secret }',
  testTrigger: 'testTrigger(base: "crm", id: "desk" $dry) { id status }',
  replayTriggerDelivery:
    'replayTriggerDelivery(base: "crm", id: "desk", delivery: "sent" $dry) { id status }',
  putDefinition:
    'putDefinition(base: "crm", kind: "trigger", id: "desk", merge: {name: "N"} $dry) { id operation }',
  deleteDefinition: 'deleteDefinition(base: "crm", kind: "trigger", id: "desk" $dry) { id deleted }',
  applySeed: 'applySeed(base: "crm--kept", id: "desk" $dry) { id records relationships }',
  batch:
    'batch(base: "crm", operations: [{type: "upsert_record", record_type: "task", id: "n", data: {title: "n"}}] $dry) { count }',
  cancelRecord: 'cancelRecord(base: "crm", recordType: "task", id: "a" $dry) { id status }',
  claimRecords: 'claimRecords(base: "crm", recordType: "task" $dry) { limit }',
  clearSeed: 'clearSeed(base: "crm--kept", id: "desk" $dry) { id }',
  completeAttachment: `completeAttachment(base: "crm", recordType: "task", recordId: "a", id: "$attachment", contentSha256: "${SHA256_OF_X}" $dry) { id }`,
  completeClaim: 'completeClaim(base: "crm", id: "$claim" $dry) { id }',
  createAttachment:
    'createAttachment(base: "crm", recordType: "task", recordId: "a", filename: "n", content: "x" $dry) { id }',
  createPreview: 'createPreview(base: "crm", input: {name: "dev"} $dry) { id }',
  createRecord: 'createRecord(base: "crm", recordType: "task", data: {title: "n"} $dry) { id }',
  createRelationship: `createRelationship(base: "crm", input: {${LINK}} $dry) { id }`,
  createToken:
    'createToken(name: "n", grants: [{base: "crm", record_type: "*", environment: "*", permission: "read"}] $dry) { id }',
  discardChanges:
    'discardChanges(base: "crm--drafts", resources: [{kind: "record", record_type: "task", id: "a"}] $dry) { revision changes }',
  reopenPreview: 'reopenPreview(base: "crm--rejected" $dry) { id changeSet { status closedAt approvals } }',
  reviewPreview:
    'reviewPreview(base: "crm--drafts", verdict: comment, text: "Why?" $dry) { verdict revision isStale resources text by { name } at }',
  deleteAttachment:
    'deleteAttachment(base: "crm", recordType: "task", recordId: "a", id: "$attachment" $dry) { id }',
  deleteBase: 'deleteBase(id: "crm", confirm: "crm" $dry) { id }',
  deleteRecord: 'deleteRecord(base: "crm", recordType: "task", id: "a" $dry) { id }',
  deleteRecordType: 'deleteRecordType(base: "crm", id: "task", confirm: "task" $dry) { id }',
  deleteRelationship: 'deleteRelationship(base: "crm", id: "l" $dry) { id }',
  deleteRelationshipType: 'deleteRelationshipType(base: "crm", id: "next", confirm: "next" $dry) { id }',
  createSignInCode: 'createSignInCode(idempotencyKey: null $dry) { expiresAt }',
  deleteToken: 'deleteToken(id: "$token" $dry) { id }',
  executeSql: `executeSql(base: "crm", statements: "UPDATE task SET title = 'n' WHERE id = 'a'" $dry) { count }`,
  heartbeatClaim: 'heartbeatClaim(base: "crm", id: "$claim" $dry) { id }',
  importTools:
    'importTools(base: "crm", provider: "openai", tools: [{type: "function", function: {name: "n", parameters: {type: "object"}}}] $dry) { __typename }',
  patchRecord: 'patchRecord(base: "crm", recordType: "task", id: "a", merge: {title: "n"} $dry) { id }',
  patchRecordType: 'patchRecordType(base: "crm", id: "task", input: {name: "N"} $dry) { id }',
  copyFile:
    'copyFile(base: "crm", fileType: "paper", path: "copy.txt", sourceFileType: "paper", sourcePath: "a.txt" $dry) { path }',
  startFileUpload:
    'startFileUpload(base: "crm", fileType: "paper", path: "n.bin", contentType: "text/plain" $dry) { id }',
  putFileUploadPart:
    'putFileUploadPart(base: "crm", fileType: "paper", path: "u.bin", id: "$upload", number: 2, sourceFileType: "paper", sourcePath: "a.txt" $dry) { size }',
  completeFileUpload:
    'completeFileUpload(base: "crm", fileType: "paper", path: "u.bin", id: "$upload", parts: [{number: 1, sha256: "$part"}] $dry) { path }',
  abortFileUpload:
    'abortFileUpload(base: "crm", fileType: "paper", path: "u.bin", id: "$upload" $dry) { id }',
  createS3Credential: 'createS3Credential(base: "crm", permission: read, expiresIn: 60 $dry) { id }',
  putSecret: 'putSecret(name: "NEW", input: {value: "v"} $dry) { name }',
  deleteSecret: 'deleteSecret(name: "KEY" $dry) { id }',
  rotateAdminToken: 'rotateAdminToken(idempotencyKey: null $dry) { id }',
  rotateInboundWebhookSecret: 'rotateInboundWebhookSecret(base: "crm", id: "desk" $dry) { id secret }',
  replayDeliveries: 'replayDeliveries(base: "crm", status: "dead" $dry) { count }',
  rotateMasterKey: 'rotateMasterKey(idempotencyKey: null $dry) { rewrapped }',
  deleteS3Credential: 'deleteS3Credential(base: "crm", id: "$credential" $dry) { id }',
  putFile:
    'putFile(base: "crm", fileType: "paper", path: "new.txt", contentType: "text/plain", text: "x" $dry) { path }',
  patchFile: 'patchFile(base: "crm", fileType: "paper", path: "a.txt", newPath: "b.txt" $dry) { path }',
  deleteFile: 'deleteFile(base: "crm", fileType: "paper", path: "a.txt" $dry) { id }',
  patchFileType: 'patchFileType(base: "crm", id: "desk", input: {name: "N"} $dry) { id }',
  patchRelationshipType: 'patchRelationshipType(base: "crm", id: "next", input: {name: "N"} $dry) { id }',
  promote: 'promote(base: "crm", from: "crm--kept" $dry) { id }',
  askForReview: 'askForReview(base: "crm", from: "crm--asked" $dry) { id }',
  submitPreview: 'submitPreview(base: "crm--asked", comment: "Please." $dry) { id }',
  decideReviewRequest: 'decideReviewRequest(base: "crm", id: "$review", decision: "decline" $dry) { id }',
  pauseToken: 'pauseToken(base: "crm", id: "$token" $dry) { id }',
  resumeToken: 'resumeToken(base: "crm", id: "$held" $dry) { id }',
  putBase: 'putBase(id: "crm", input: {name: "N"} $dry) { id }',
  putConfig:
    'putConfig(base: "crm--kept", config: {plinth: 1, base: "crm", record_types: [{id: "n"}]} $dry) { hash }',
  putRecord: 'putRecord(base: "crm", recordType: "task", id: "a", data: {title: "n"} $dry) { id }',
  putRecordByExternalId:
    'putRecordByExternalId(base: "crm", recordType: "task", externalId: "e", data: {title: "n"} $dry) { id }',
  putRecordType: 'putRecordType(base: "crm", id: "task", input: {name: "N"} $dry) { id }',
  putRelationship: `putRelationship(base: "crm", id: "l2", input: {${LINK}} $dry) { id }`,
  putRelationshipType: 'putRelationshipType(base: "crm", id: "next", input: {name: "N"} $dry) { id }',
  recordToolCall:
    'recordToolCall(base: "crm", recordType: "task", provider: "mcp", call: {name: "task", arguments: {title: "n"}} $dry) { __typename }',
  releaseClaim: 'releaseClaim(base: "crm", id: "$claim" $dry) { id }',
  resetSeed: 'resetSeed(base: "crm--kept", id: "desk" $dry) { id }',
  restoreRecord: 'restoreRecord(base: "crm", recordType: "task", id: "gone" $dry) { id }',
  revertChanges:
    'revertChanges(base: "crm", seq: $seq, skipConflicts: true $dry) { count plan { what } skipped { id } }',
  revertChange: 'revertChange(base: "crm", seq: $seq $dry) { __typename }',
  rollbackPromotion: 'rollbackPromotion(base: "crm", promotionId: "$promotion" $dry) { id }',
  unlinkRecords:
    'unlinkRecords(base: "crm", relType: "next", sourceRecordType: "task", sourceId: "a", targetRecordType: "task", targetId: "b" $dry) { id }',
}

/** A sample of every field of Subscription. */
export const SUBSCRIPTIONS: Readonly<Record<string, string>> = {
  changes: 'changes(base: "crm", after: 0) { seq kind recordType id diff actor { name } }',
  recordRows:
    'recordRows(base: "crm", recordType: "task", withColumns: true) { rows columns { fields jsonSchema } }',
  recordTypeChanges: 'recordTypeChanges(base: "crm", endpoint: "desk") { recordType }',
  sqlRows: 'sqlRows(base: "crm", query: "SELECT id, data FROM records") { rows columns { name } }',
}

/** Fills the base `crm`, whose external source is `upstream`. Returns what makes a document of a sample. */
export async function fillGraph(world: World, upstream: Upstream) {
  const held = {
    claim: '',
    run: '',
    seq: '',
    token: '',
    held: '',
    promotion: '',
    review: '',
    attachment: '',
    upload: '',
    part: '',
    credential: '',
  }
  const send = async (document: string): Promise<Body> =>
    (await world.call('POST', '/graphql', { query: document })).body
  upstream.on('/tasks', json([{ id: 'a', title: 'a' }]))
  upstream.on('/tasks/a', json({ id: 'a', title: 'a' }))
  const put = async (path: string, body: object) =>
    succeed(await world.call('PUT', `/v1/crm/${path}`, body), 201)
  await put('record-types/task', {
    json_schema: { type: 'object', properties: { title: { type: 'string' } } },
    sources: [
      {
        name: 'up',
        ...{ list: { url: `${upstream.url}/tasks` }, get: { url: `${upstream.url}/tasks/{{external_id}}` } },
        field_mapping: { to_plinth: { external_id: '$.id', title: '$.title' } },
      },
    ],
  })
  await put('relationship-types/next', {})
  for (const id of ['a', 'b', 'gone']) await put(`records/task/${id}`, { data: { title: id } })
  await put('relationships/l', {
    rel_type: 'next',
    source_record_type: 'task',
    source_id: 'a',
    target_record_type: 'task',
    target_id: 'b',
  })
  await put('file-types/paper', {})
  await put('files/paper/a.txt', { n: 1 })
  succeed(await world.call('DELETE', '/v1/crm/records/task/gone'))
  const attached = await world.call('POST', '/v1/crm/records/task/a/attachments', {
    filename: 'note',
    content: 'x',
  })
  held.attachment = succeed(attached, 201).id
  const claimed = succeed(
    await world.call('POST', '/v1/crm/records/task/claim', { filter: { field: 'id', op: 'eq', value: 'b' } }),
  )
  held.claim = claimed.data[0].claim.id
  succeed(await world.call('PATCH', '/v1/crm/records/task/a', { data: { title: 'changed' } }))
  const { data } = succeed(await world.call('GET', '/v1/crm/changes?id=a&record_type=task'))
  held.seq = String(data.at(-1).seq)
  succeed(await world.call('POST', '/v1/crm/preview', { name: 'kept' }), 201)
  succeed(await world.call('PUT', '/v1/crm/record-types/note', {}), 201)
  for (const noun of PLAIN_NOUNS)
    succeed(
      await world.call('PUT', `/v1/${homeOf(noun, 'crm', 'crm--kept')}/${noun}/desk`, leastOf(noun)),
      201,
    )
  held.run = succeed(await world.call('POST', '/v1/crm/actions/desk/run', {})).run_id
  await world.database.query(FAILED_DELIVERY, ['crm', 'desk'])
  await world.database.query(
    "INSERT INTO plinth.trigger_delivery (base_id, trigger_id, id, event, status) VALUES ('crm', 'desk', 'sent', 'trigger.test', 'dead')",
  )
  held.promotion = succeed(await world.call('POST', '/v1/crm/promote', { from: 'crm--kept' })).id
  succeed(await world.call('POST', '/v1/crm/preview', { name: 'asked' }), 201)
  succeed(await world.call('POST', '/v1/crm/preview', { name: 'drafts', copy: 'on_write' }), 201)
  succeed(await world.call('PATCH', '/v1/crm--drafts/records/task/a', { data: { title: 'drafted' } }))
  succeed(await world.call('POST', '/v1/crm/preview', { name: 'rejected', copy: 'on_write' }), 201)
  succeed(await world.call('POST', '/v1/crm--rejected/reviews', { verdict: 'reject' }), 201)
  succeed(await world.call('PUT', '/v1/crm--asked/record-types/asked', {}), 201)
  succeed(await world.call('POST', '/v1/crm/review-requests', { from: 'crm--asked' }), 201)
  // One that somebody else asked for.
  held.review = 'other'
  await world.database.query(
    'INSERT INTO plinth.review_request SELECT r.* FROM plinth.review_request p, jsonb_populate_record(p, \'{"id": "other", "token_id": null}\') r',
  )
  const key = { permission: 'read', expires_in: 600 }
  held.credential = succeed(await world.call('POST', '/v1/crm/s3-credentials', key), 201).id
  const at = 'base: "crm", fileType: "paper", path: "u.bin"'
  const begun = await send(`mutation { startFileUpload(${at}, contentType: "text/plain") { id } }`)
  held.upload = begun.data.startFileUpload.id
  const source = 'sourceFileType: "paper", sourcePath: "a.txt"'
  const sent = await send(
    `mutation { putFileUploadPart(${at}, id: "${held.upload}", number: 1, ${source}) { contentSha256 } }`,
  )
  held.part = sent.data.putFileUploadPart.contentSha256
  succeed(await world.call('PUT', '/v1/vault/secrets/KEY', { value: 'v', bases: ['crm'] }), 201)
  held.held = (await world.newToken([{ permission: 'read' }])).id
  succeed(await world.call('POST', `/v1/crm/tokens/${held.held}/pause`, {}))
  held.token = (await world.newToken([{ permission: 'read' }])).id
  return (sample: string, dry: string): string =>
    Object.entries(held)
      .reduce((text, [name, value]) => text.replaceAll(`$${name}`, value), sample)
      .replace(' $dry', dry)
}
