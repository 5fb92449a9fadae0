import { graphql } from '../../graphql/document.ts'
import { compile } from '../../graphql/execute.ts'
import { ToolRecord } from '../tools/records/record-tools.ts'

/** Reads one record with all fields that tools show. */
export const readRecord = compile(
  graphql(
    `query ReadRecord($base: String!, $type: String!, $id: String!) {
      record(base: $base, recordType: $type, id: $id) { ...ToolRecord }
    }`,
    [ToolRecord],
  ),
)
