/** The instructions of an address: for a base, its outline between the fixed lines. */
import { anyPreviewOf, productionOf } from '../../contract/ids.ts'
import { RELATION_COLUMNS } from '../../contract/record-columns.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { mayAnywhere, mayOnWhole, mayPropose } from '../../graphql/context.ts'
import type { AddressSession } from '../protocol/address-session.ts'
import { INSTRUCTIONS, opening, rules } from '../protocol/instructions.ts'
import { estimateTokens } from './llm-token-estimate.ts'
import { outlineOf } from './outline.ts'

/** What the instructions say of the lists of tools. */
export type Listing = {
  /** Whether the list of tools has a generic tool. */
  lists: (tool: string) => boolean
  /** Whether the list has `create_<type>`. */
  hasCreates: boolean
  /** Whether a write is one of production, or of a preview that is a base of its own. */
  writesDirectly: boolean
  /** What the address names and does not have. */
  unknown: Unknown
}

/** Names of type tools in `?tools=`, and of types in `?types=`, that an address does not have, each with the nearest that it has. */
export type Unknown = Readonly<Record<'tools' | 'types', ReadonlyMap<string, string | undefined>>>

/**
 * Builds the instructions of `/mcp` or of a base, within `LIMITS.instructionsTokens`. Clients may cut them, so
 * the outline comes before the rules.
 */
export async function instructionsOf(
  session: AddressSession,
  listing: (base: string) => Promise<Listing>,
): Promise<string> {
  const { base, context, readonly } = session
  if (session.instructions !== null) return session.instructions
  if (base === null) return INSTRUCTIONS
  const { lists, hasCreates, writesDirectly, unknown } = await listing(base)
  const mayWrite = !readonly && mayAnywhere(context, 'write', base)
  const offer = { base, lists, mayWrite, writesDirectly }
  const hasSql = lists('sql_query')
  const fixed = [
    opening(offer),
    rules(offer),
    [mayWrite && unlisted(session, hasCreates), ...misnamed(unknown).map((each) => `- ${each}`)]
      .filter(Boolean)
      .join('\n'),
    [
      mayPropose(context, base) && proposals(lists('propose')),
      mayPreview(session) && PREVIEWS,
      writesDirectly && mayConfigure(session) && CONFIGURATION,
    ]
      .filter(Boolean)
      .join('\n'),
    hasSql ? `${SQL}${mayWrite && lists('sql_write') ? ` ${LINKING}` : ''}` : '',
  ]
  const left = LIMITS.instructionsTokens - estimateTokens(fixed.join('\n\n')) - SPARE_TOKENS
  const { text, builtIn } = await outlineOf(base, context, left, restOf(lists))
  const [first, last, more, previews, sql] = fixed
  return [
    first,
    [text, builtInLine(builtIn, hasSql), sql].filter(Boolean).join('\n'),
    [last, more, previews].filter(Boolean).join('\n'),
  ].join('\n\n')
}
const proposals = (mayAsk: boolean) =>
  `- What you write here is proposed: you see it at once, others see it once a person has promoted it.${mayAsk ? ' Finish by calling propose.' : ''} whoami says what is left of your rules.`
const PREVIEWS =
  '- To change a live base safely, call preview, propose and promote: they try changes in a copy. ?tools= lists them.'

const CONFIGURATION =
  '- configuration, configure and run_action read, change and run triggers, inbound webhooks, actions and endpoints.'

const hasNoOptions = ({ tools, types, profile }: AddressSession): boolean =>
  [tools, types, profile].every((option) => option === null)

const mayConfigure = (session: AddressSession): boolean =>
  session.base !== null &&
  !session.readonly &&
  hasNoOptions(session) &&
  mayOnWhole(session.context, 'manage', session.base)

/** Whether the token may try changes in previews, and the list of tools does not say so. */
const mayPreview = (session: AddressSession): boolean =>
  session.base !== null &&
  !session.readonly &&
  hasNoOptions(session) &&
  mayAnywhere(session.context, 'manage', anyPreviewOf(productionOf(session.base)))

/** For the line about fields with the name of a column. */
const SPARE_TOKENS = 60

const columns = (relation: keyof typeof RELATION_COLUMNS) =>
  `${relation}(${RELATION_COLUMNS[relation].replaceAll(' ', ', ')})`

const SQL = `In SQL a type is a relation with id, external_id, external_source, status (active or cancelled), version, created_at, updated_at, its fields, and data (jsonb); lists and objects are jsonb too. Also ${columns('relationships')}, ${columns('claims')}, ${columns('changes')}: changed names what an update changed, data_before is the data before it.`
const LINKING =
  "To link: INSERT INTO relationships (rel_type, source_record_type, source_id, target_record_type, target_id) VALUES ('works_at', 'contact', 'p1', 'company', 'c1')."

/** How to see what the outline leaves out. */
const restOf = (lists: Listing['lists']): string =>
  lists('describe_type')
    ? 'list_types and describe_type show the rest.'
    : lists('sql_query')
      ? 'SELECT id, json_schema FROM record_types shows the rest.'
      : 'The resources plinth://{base}/types/{type} show the rest.'

function builtInLine(fields: readonly string[], hasSql: boolean): string {
  if (fields.length === 0) return ''
  const named = fields.slice(0, 6).join(', ')
  const sql = hasSql ? ', in SQL data_<name>' : ''
  return `status, id and version are those of the record (status: active or cancelled). A field of such a name (${named}) is data.<name> in filters${sql}.`
}

/** Says which names in the address are no tools or types. They are no error, because types come and go. */
export function misnamed(unknown: Unknown): string[] {
  const kinds = [
    ['tools', 'no tool'],
    ['types', 'no record type'],
  ] as const
  return kinds.flatMap(([option, nothing]) => {
    const all = [...unknown[option]]
    const names = all.slice(0, LIMITS.misnamedTypesShown).map(([name, meant]) => {
      return `${name.slice(0, 64)}${meant ? ` (did you mean ${meant}?)` : ''}`
    })
    const more =
      all.length > LIMITS.misnamedTypesShown ? ` and ${all.length - LIMITS.misnamedTypesShown} more` : ''
    const text = `?${option}= in the address names what is ${nothing} here: ${names.join(', ')}${more}.`
    return names.length === 0 ? [] : [text]
  })
}

/** Says which type tools can be called and are not listed. */
function unlisted({ tools, types, profile }: AddressSession, hasCreates: boolean): string {
  if (tools !== null || types !== null) return ''
  if (profile !== null)
    return '- The address without ?profile=lean lists more tools. They can be called here too: cancel_record (record_type, id), batch, record_history and, with file types, put_file (file_type, path, text).'
  return hasCreates
    ? '- update_<type> exists for each type and can be called. ?types=a,b in the address lists it.'
    : '- create_<type> and update_<type> exist for each type and can be called. ?types=a,b or ?tools=create_a in the address lists them.'
}
