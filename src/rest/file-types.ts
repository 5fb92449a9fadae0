import { FileStorage, FileTypeBody, FileTypePut } from '../contract/file-shapes.ts'
import { graphql } from '../graphql/document.ts'
import { DeletionParts } from '../http/deletion-plan-fragment.ts'
import { answerOf, crud, WarningsMeta } from './route/crud.ts'

const FileTypeFields = graphql(`fragment FileTypeFields on FileType {
  id name description storage metadata_schema: metadataSchema version created_at: createdAt updated_at: updatedAt
}`)

/** REST routes of file types. */
export const fileTypes = crud('/:base_id/file-types', {
  tag: 'File types',
  label: 'A file type',
  body: FileTypeBody,
  sent: FileTypePut,
  answers: answerOf('FileType', FileTypeBody).extend({
    storage: FileStorage.required(),
    meta: WarningsMeta,
  }),
  list: graphql(
    `query ListFileTypes($base: String!, $limit: Int, $offset: Int, $cursor: String, $includeTotal: Boolean) {
      page: fileTypes(base: $base, limit: $limit, offset: $offset, cursor: $cursor, includeTotal: $includeTotal) {
        data { ...FileTypeFields } hasMore truncated limit offset total nextCursor
      }
    }`,
    [FileTypeFields],
  ),
  get: graphql(
    'query GetFileType($base: String!, $id: String!, $version: Int) { found: fileType(base: $base, id: $id, version: $version) { ...FileTypeFields } }',
    [FileTypeFields],
  ),
  put: graphql(
    `mutation PutFileType($base: String!, $id: String!, $input: FileTypeInput!,
      $expectedVersions: [Int!], $mustExist: Boolean, $mustBeAbsent: Boolean) {
      written: putFileType(base: $base, id: $id, input: $input,
        expectedVersions: $expectedVersions, mustExist: $mustExist, mustBeAbsent: $mustBeAbsent) {
        ...FileTypeFields operation warnings dry_run: dryRun
      }
    }`,
    [FileTypeFields],
  ),
  patch: graphql(
    `mutation PatchFileType($base: String!, $id: String!, $merge: JSON, $operations: JSON,
      $expectedVersions: [Int!], $mustExist: Boolean) {
      written: patchFileType(base: $base, id: $id, merge: $merge, operations: $operations,
        expectedVersions: $expectedVersions, mustExist: $mustExist) {
        ...FileTypeFields warnings dry_run: dryRun
      }
    }`,
    [FileTypeFields],
  ),
  remove: graphql(
    `mutation DeleteFileType($base: String!, $id: String!, $confirm: String, $expectedVersions: [Int!]) {
      gone: deleteFileType(base: $base, id: $id, confirm: $confirm, expectedVersions: $expectedVersions) {
        id deleted dry_run: dryRun deletion { ...DeletionParts }
      }
    }`,
    [DeletionParts],
  ),
  confirm: "The type's id. Required if it has files.",
})
