/** What each field of the GraphQL schemas needs for its sample (graph-samples.ts, base-samples.ts). */
import {
  administers,
  atEndpoint,
  both,
  covers,
  either,
  everywhere,
  has,
  inPreviews,
  inProduction,
  isPreview,
  isProduction,
  known,
  open,
  reaches,
  sight,
} from '../support/oracle.ts'
import { group, type Rule } from './matrix.ts'

const readType = has('read', 'task')
const writeType = has('write', 'task')
const [read, write, manage] = [has('read', '*'), has('write', '*'), has('manage', '*')]

export const FIELD_NEEDS: ReadonlyMap<string, Rule> = new Map([
  ...['Toolset', 'Endpoint', 'Seed', 'Action', 'Trigger', 'InboundWebhook', 'FileType'].flatMap((name) => {
    const one = `${name.charAt(0).toLowerCase()}${name.slice(1)}`
    return [
      ...group({ need: read }, `${one} ${one}s`),
      ...group({ need: manage }, `put${name} patch${name} delete${name}`),
    ]
  }),
  ...group({ need: open }, 'bases ownToken createSignInCode'),
  ...group({ need: administers }, 'secrets tokens'),
  ...group({ need: covers('admin') }, 'token'),
  ...group({ need: known }, 'base calls usage'),
  ...group(
    { need: sight },
    `changes changeGroups changesEnd claims relationships relationshipTypes relationshipType recordTypes
    outlinedLinks outlinedFileTypes outlinedTypes visibleTypes seesFileTypes exportTools trash waitForChange`,
  ),
  // With rights on types, an endpoint shows what both have.
  ...group({ need: either(sight, reaches('desk')) }, 'servedEndpoint'),
  ...group({ need: either(sight, inPreviews(sight)) }, 'previews'),
  ...group(
    { need: readType },
    `aggregate aggregateBases queryBases attachment attachments attachmentById changesMatch configurationHistory record
    recordHistory recordType inferredSchema recordTypeProfile records related sourceRecord sourceRecords waitForRecords`,
  ),
  ...group({ need: readType, hides: 'id' }, 'changeTrace claim relationship'),
  ...group({ need: readType, hides: 'relation' }, 'sql'),
  ...group(
    { need: read },
    `actionRun actionRuns inboundDeliveries triggerDeliveries deliveries config configSchema configDiff definition
    definitions files file fileText searchFiles fileKeys fileVersions fileDiff
    s3Credentials createS3Credential deleteS3Credential promotion promotions reviewRequests
    newestReviewRequest`,
  ),
  ...group({ need: read, proposes: true }, 'runAction'),
  ...group({ need: both(read, inPreviews(read)) }, 'proposal reviewRequest'),
  ...group({ need: both(read, inPreviews(write)) }, 'askForReview'),
  ...group({ need: both(write, inProduction(read)) }, 'submitPreview'),
  // A change-set shows records of production.
  ...group({ need: both(has('read', 'any'), inProduction(has('read', 'any'))) }, 'changeSetReviews'),
  ...group({ need: both(has('write', 'any'), inProduction(has('read', 'any'))) }, 'reviewPreview'),
  ...group({ need: both(writeType, inProduction(readType)) }, 'discardChanges'),
  ...group({ need: both(write, inProduction(write)) }, 'reopenPreview'),
  ...group({ need: has('admin', '*') }, 'baseExport deleteBase'),
  ...group({ need: both(has('admin', '*'), inPreviews(read)) }, 'rollbackPromotion decideReviewRequest'),
  // Of a secret of this base only.
  ...group({ need: has('admin', '*') }, 'secret deleteSecret'),
  ...group({ need: everywhere('admin') }, 'diagnostics putSecret rotateAdminToken rotateMasterKey'),
  ...group(
    { need: writeType, proposes: true },
    `batch cancelRecord createRecord putRecord putRecordByExternalId patchRecord deleteRecord restoreRecord
    createRelationship putRelationship unlinkRecords`,
  ),
  ...group({ need: writeType, proposes: true, hides: 'id' }, 'deleteRelationship'),
  ...group({ need: writeType, proposes: true, hides: 'relation' }, 'executeSql'),
  ...group(
    { need: writeType },
    'claimRecords createAttachment completeAttachment deleteAttachment recordToolCall',
  ),
  ...group(
    { need: writeType, hides: 'id' },
    'completeClaim heartbeatClaim releaseClaim revertChange revertChanges',
  ),
  ...group({ need: writeType, hides: 'ids' }, 'actOnClaims'),
  ...group(
    { need: write },
    `fileStorage fileUploads fileUploadParts copyFile startFileUpload putFileUploadPart completeFileUpload abortFileUpload putFile patchFile deleteFile`,
  ),
  ...group({ need: has('manage', 'task') }, 'putRecordType patchRecordType deleteRecordType'),
  ...group({ need: has('manage', 'n') }, 'importTools'),
  ...group(
    { need: manage },
    `putRelationshipType patchRelationshipType deleteRelationshipType putDefinition deleteDefinition putBase
    replayInboundDelivery rotateTriggerSecret testTrigger replayTriggerDelivery rotateInboundWebhookSecret replayDeliveries
    applySeed clearSeed resetSeed`,
  ),
  ...group({ need: both(manage, isPreview) }, 'putConfig'),
  ...group({ need: both(read, inPreviews(manage)) }, 'createPreview'),
  ...group({ need: both(isProduction, write) }, 'pauseToken'),
  ...group({ need: write }, 'resumeToken'),
  ...group({ need: both(administers, covers('read')) }, 'createToken'),
  ...group({ need: covers('admin') }, 'deleteToken'),
  ...group({ need: both(isProduction, has('admin', '*'), inPreviews(read)) }, 'promote'),
])

/** Of the schema of a base: a field that the token may not use is not there. */
export const BASE_FIELD_NEEDS: ReadonlyMap<string, Rule> = new Map([
  ...group({ need: sight }, '_base'),
  ...group(
    { need: readType, hides: 'relation' },
    'task taskRecords taskAggregate task_fromSource taskRecords_fromSource',
  ),
  ...group(
    { need: writeType, proposes: true, hides: 'relation' },
    'createTask updateTask upsertTask deleteTask cancelTask restoreTask',
  ),
  ...group({ need: writeType, hides: 'relation' }, 'attachTask claimTask completeTask releaseTask'),
])

const readAtDesk = atEndpoint('desk', 'read', 'task')
const writeAtDesk = atEndpoint('desk', 'write', 'task')
/** Of the schema of the endpoint `desk`. What is written there is no proposal. */
export const DESK_FIELD_NEEDS: ReadonlyMap<string, Rule> = new Map([
  ...group({ need: either(sight, reaches('desk')) }, '_base'),
  ...group(
    { need: readAtDesk, hides: 'relation' },
    'task taskRecords taskAggregate task_fromSource taskRecords_fromSource',
  ),
  ...group(
    { need: writeAtDesk, hides: 'relation' },
    `createTask updateTask upsertTask deleteTask cancelTask attachTask claimTask completeTask releaseTask
    _undo`,
  ),
])

/** Of the subscriptions, by the path of their schema. */
export const STREAM_NEEDS: Readonly<Record<string, ReadonlyMap<string, Rule>>> = {
  '/graphql': new Map([
    ...group({ need: sight }, 'changes recordTypeChanges sqlRows'),
    ...group({ need: readType }, 'recordRows'),
  ]),
  '/graphql/crm': new Map(group({ need: readType, hides: 'relation' }, 'taskChanges')),
  '/graphql/crm/e/desk': new Map(group({ need: readAtDesk, hides: 'relation' }, 'taskChanges')),
}
