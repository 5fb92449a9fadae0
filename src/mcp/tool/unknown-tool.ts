import { isClose, meantValue } from '../../contract/suggest.ts'
import { oneFault } from '../../foundation/errors.ts'
import { type Context, pausedAt } from '../../graphql/context.ts'
import { InvalidParams } from '../protocol/provider.ts'

/** FORBIDDEN for a tool that the grants do not allow, or that is none while the token is paused. */
export const beyondGrants = (name: string, context: Context, base: string | null) =>
  pausedAt(context, base) ??
  oneFault('FORBIDDEN', `The token may not use "${name.slice(0, 128)}".`, {
    path: '',
    code: 'missing_permission',
    message: 'tools/list names the tools this token may use.',
  })

/** Error for an unknown tool, with the tool that does it as a hint: a listed one, or else one of `callable`. */
export function unknownTool(
  name: string,
  known: readonly string[],
  callable: readonly string[] = [],
): InvalidParams {
  const words = name.slice(0, 128).replace(/(?<=[a-z])(?=[A-Z])/g, '_')
  const meant = meantTool(words, known) ?? ofMeaning(words, callable)
  return new InvalidParams(
    `There is no tool "${name.slice(0, 128)}" here.${meant ? ` Did you mean "${meant}"?` : ''} tools/list lists the tools.`,
  )
}

const TYPE = '(record_?|relationship_?|rel_?)?(type|schema|table|collection|definition)s?'
const BASE = '((data_?)?base|workspace)s?'
const RECORD = '(record|document|item|row|entry|object)s?'

const FILE = '(attachment|file)s?'

const KIND = '(trigger|(inbound_?)?web_?hook|action|endpoint|tool_?set|seed|file_?type)s?'

const LINK = '(relationship|relation|link|edge|association)s?'

/**
 * What other systems call a tool, and the tools that do it, the best first. The first row that fits decides. A
 * row never names a tool with another effect.
 */
const MEANT: readonly (readonly [RegExp, readonly string[]])[] = [
  [pattern(`(add|attach|create|upload|put|write|save|insert|new)_?${FILE}(_(to|for)_.*)?`), ['put_file']],
  // No tool reads or deletes attachments; those of files are for files at a path.
  [pattern('(.*_)?attachments?(_.*)?'), []],
  [
    pattern(`(list|get|read|show|describe|fetch)_?(all_?)?${KIND}|(list|get|show)_(deliveries|runs)`),
    ['configuration'],
  ],
  [pattern('(run|execute|call|start|invoke)_?(an?_)?actions?'), ['run_action']],
  [
    pattern(
      `(define|put|upsert|create|make|add|update|patch|set|change|edit|delete|remove|drop|enable|disable|test)_?${KIND}|rotate_?(trigger_?)?secret|replay_?(delivery)?`,
    ),
    ['configure'],
  ],
  [pattern(`(delete|drop|remove)_?${BASE}`), ['delete_definition']],
  [pattern(`(define|put|upsert|create|make|add|new|update|patch)_?${BASE}`), ['put_base']],
  [pattern(`(list|show|get)_?(all_?)?${BASE}`), ['list_bases']],
  [pattern(`(delete|drop|remove)_?${TYPE}`), ['delete_definition', 'batch']],
  [
    pattern(
      `(define|put|upsert|create|make|update|patch|set|change|alter|modify|add|drop)_?(${TYPE}|field|column|property|index)(s|es)?`,
    ),
    ['define'],
  ],
  [
    pattern(`(delete|remove|destroy|drop)_?${LINK}|(unlink|disconnect|detach|dissociate|unrelate)(_.*)?`),
    ['batch', 'sql_write'],
  ],
  [pattern(`(create|add|insert|new|put|upsert|make|write)_?${LINK}`), ['link_records', 'sql_write']],
  [pattern(`(get|show|read|describe|inspect)_?${TYPE}`), ['describe_type', 'sql_query']],
  [pattern(`(list|show|get)_?(all_?)?${TYPE}`), ['list_types', 'sql_query']],
  [pattern('(write|update)_?sql|sql_?(insert|update|delete|execute)|execute_sql_write'), ['sql_write']],
  [pattern('(execute|run|exec)_?(sql|query|statement)s?|(sql|query|select)|read_?sql'), ['sql_query']],
  [
    pattern('who_?(am_?i|are_?you)|(get_|show_|my_|own_)*(token|limits|bounds|permissions?|grants|rights)'),
    ['whoami'],
  ],
  [pattern('(undo|revert|roll_?back)_?(a_|the_|last_)?promotion'), ['rollback_promotion']],
  [pattern('(apply|reset|clear|run|load)_?(the_)?(seed|fixture)s?'), ['configure']],
  [pattern('(undo|revert|roll_?back|take_?back)(_.*)?'), ['undo']],
  [pattern('(restore|undelete|recover)(_.*)?'), ['undo']],
  [pattern('(get_|list_|read_|show_)?(.*_)?(history|versions?)'), ['record_history', 'sql_query']],
  [
    pattern(
      '(get_|list_|read_|show_)?(recent_)?(changes?|change_?log|audit(_?log|_?trail)?|activity|events?)',
    ),
    ['changes', 'sql_query'],
  ],
  [pattern('(count|aggregate|sum|group|statistics|stats)(_.*)?'), ['aggregate_records', 'sql_query']],
  [pattern('(search|find|full_?text)(_.*)?'), ['search', 'query_records', 'sql_query']],
  [pattern('(list|query|filter|select)(_.*)?'), ['query_records', 'sql_query']],
  [pattern('(get|read|fetch|show|view|load)(_.*)?'), ['get_record', 'sql_query']],
  [pattern(`(create|add|insert|new|put|save|write|store)_?${RECORD}`), ['upsert_record', 'sql_write']],
  [pattern('(update|edit|modify|patch|set|change)(_.*)?'), ['update_record', 'sql_write']],
  [pattern('upsert(_.*)?'), ['upsert_record', 'sql_write']],
  [pattern('(delete|remove|destroy)(_.*)?'), ['delete_record', 'sql_write']],
  [pattern('cancel(_.*)?'), ['cancel_record']],
  [pattern('(link|connect|relate|attach|associate)(_.*)?'), ['link_records', 'sql_write']],
  [pattern('(get_)?(related|neighbou?rs|traverse|graph)(_.*)?'), ['get_related', 'sql_query']],
  [pattern('(claim|lease|dequeue|heartbeat|release|complete|wait)(_.*)?'), ['work']],
  [pattern('(bulk|transaction|batch|import)(_.*)?'), ['batch', 'sql_write']],
]

function pattern(words: string): RegExp {
  return new RegExp(`^(?:${words})$`, 'i')
}

/** Words for the making of a record; a type tool has one of them. */
const CREATES = /^(?:add|insert|new|make|save|put)_(?=.)/i

function meantTool(name: string, known: readonly string[]): string | undefined {
  const close = known.find((each) => isClose(name, each))
  if (close !== undefined) return close
  const created = name.replace(CREATES, 'create_')
  if (created !== name && known.includes(created)) return created
  return ofType(name, known) ?? ofMeaning(name, known)
}

function ofMeaning(name: string, known: readonly string[]): string | undefined {
  const [, tools = []] = MEANT.find(([words]) => words.test(name)) ?? []
  return tools.find((each) => known.includes(each))
}

/** The type tool with the same verb, or a misspelt one, and a similar type. */
function ofType(name: string, known: readonly string[]): string | undefined {
  const [word = '', ...rest] = name.split('_')
  const verb = ['create', 'update'].find((each) => isClose(word.toLowerCase(), each))
  if (verb === undefined || rest.length === 0) return undefined
  const types = known.flatMap((each) => (each.startsWith(`${verb}_`) ? [each.slice(verb.length + 1)] : []))
  const type = meantValue(rest.join('_'), types)
  // "record" is the noun of a generic tool, and a pattern of other names says what they mean.
  return type === undefined || MEANT.slice(0, 2).some(([words]) => words.test(name))
    ? undefined
    : `${verb}_${type}`
}
