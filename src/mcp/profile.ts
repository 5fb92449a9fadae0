import { z } from 'zod'
import { graphql, type ResultOf } from '../graphql/document.ts'
import { compile } from '../graphql/execute.ts'
import { Reading, typeUriIn } from './reading.ts'
import { reading, tool } from './tool.ts'

const DescribeType = graphql(
  `query ToolDescribeType($base: String!, $recordType: String!) {
    type: recordType(base: $base, id: $recordType) {
      id name description json_schema: jsonSchema indexes timezone version
    }
    profile: recordTypeProfile(base: $base, id: $recordType) {
      count sampled
      fields { field types null_share: nullShare distinct top { value count } min max }
      omitted: omittedFields relationships examples { description query }
    }
  }`,
)
const describeType = compile(DescribeType)

type Profile = ResultOf<typeof DescribeType>['profile']
type Field = Profile['fields'][number]

/** Fields a model is shown: what is read is paid for. */
const FIELDS = 40

export const profileTools = [
  tool('describe_type', {
    title: 'Describe type',
    description: "Before a query: a type's schema, indexes, values, examples.",
    permission: 'read',
    hints: { idempotent: true },
    showsRecords: true,
    input: z.strictObject({ record_type: z.string(), ...reading }),
    output: { type: 'object', properties: { profile: { type: 'object' } } },
    run: async ({ base_id, record_type }, context) => {
      const { type, profile } = await describeType({ base: base_id, recordType: record_type }, context)
      return new Reading({ ...type, profile: sparing(profile) }, { uriOf: typeUriIn(base_id) })
    },
  }),
]

/** The profile as REST has it, without what says nothing. */
function sparing({ fields, omitted, ...profile }: Profile): object {
  const unshown = omitted + Math.max(0, fields.length - FIELDS)
  return {
    ...profile,
    fields: fields.slice(0, FIELDS).map(sparingField),
    ...(unshown > 0 && { omitted_fields: unshown }),
  }
}

/** Values that each occur once tell no more than the range does; the range no more than all values. */
function sparingField({ field, types, null_share, distinct, top, min, max }: Field): object {
  const repeats = top.some(({ count }) => count > 1)
  const showsTop = top.length > 0 && (repeats || distinct <= top.length)
  const showsRange = !(showsTop && distinct <= top.length)
  return {
    field,
    types,
    ...(null_share && { null_share }),
    ...(distinct > 0 && { distinct }),
    ...(showsTop && { top }),
    ...(showsRange && min !== null && { min }),
    ...(showsRange && max !== null && { max }),
  }
}
