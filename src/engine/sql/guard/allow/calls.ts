/** Allow-lists of SQL: what is not listed is refused. Here, the functions. */

import type { FuncCall, Node } from '@pgsql/types'
import { nearest } from '../../../../contract/suggest.ts'
import { advised } from '../../../../foundation/advised-requests.ts'
import { LIMITS } from '../../../../foundation/limits.ts'
import { own } from '../../../../foundation/own.ts'
import { type GuardContext, wordsOf } from '../relations/context.ts'
import { checkSeries } from './generate-series.ts'
import { checkJsonPath, checkPattern, constantNumber, constantText } from './patterns.ts'

/**
 * Checks a function call against the allow-list.
 * @throws VALIDATION_ERROR for a function that is not listed, or for arguments with unbounded cost
 */
export function checkCall(context: GuardContext, call: FuncCall): void {
  const words = wordsOf(call.funcname)
  const name = words.at(-1) ?? ''
  const isPlain = words.length === 1 || (words.length === 2 && words[0] === 'pg_catalog')
  if (!isPlain || !FUNCTIONS.has(name)) throw unknownFunction(context, words.join('.'), call.location)
  const args = (call.args ?? []).map((arg) => ('NamedArgExpr' in arg && arg.NamedArgExpr.arg) || arg)
  const [first, second] = args
  if (name === 'generate_series') checkSeries(context, args, call.location)
  else if (name === 'repeat') checkRepeat(context, first, second, call.location)
  else if (name === 'lpad' || name === 'rpad') checkLength(context, name, second, call.location)
  else if (name.startsWith('regexp_')) checkPattern(context, constantText(context, second), call.location)
  else if (/^jsonb_path_/.test(name)) checkJsonPath(context, constantText(context, second), call.location)
  else if (name === 'substring' && args.length > 1) checkSubstring(context, args, call.location)
}

const AVAILABLE = 'Those of texts, numbers, times, json, arrays, aggregates and windows are.'

/** The fault of a function that is not listed. */
export function unknownFunction(context: GuardContext, written: string, location: number | undefined) {
  const instead = own(INSTEAD, written)
  const hint = instead ? undefined : nearest(written, FUNCTIONS)
  const advice = instead ?? (hint ? `Did you mean ${hint}?` : AVAILABLE)
  const message = `The function ${written.slice(0, 64)} is not available here. ${advice}`
  return context.source.fault('unknown_function', message, location, hint ? { hint } : {})
}

function checkRepeat(
  context: GuardContext,
  text: Node | undefined,
  count: Node | undefined,
  location?: number,
): void {
  const repeated = constantText(context, text)
  if (repeated === undefined || repeated.length > LIMITS.sqlPaddedChars)
    throw context.source.fault(
      'unsupported',
      'repeat takes a constant text and a constant count here.',
      location,
    )
  checkLength(context, 'repeat', count, location)
}

function checkLength(context: GuardContext, name: string, length: Node | undefined, location?: number): void {
  const count = constantNumber(context, length)
  if (count !== undefined && count <= LIMITS.sqlPaddedChars) return
  const message = `${name} takes a constant count of at most ${LIMITS.sqlPaddedChars} here.`
  throw context.source.fault('unsupported', message, location)
}

/**
 * `substring` with a text as second argument is a regular expression; an argument of unknown type is treated
 * as one.
 */
function checkSubstring(context: GuardContext, args: readonly Node[], location?: number): void {
  const [, second, third] = args
  const isPosition = second && (constantNumber(context, second) !== undefined || yieldsNumber(second))
  if (isPosition && (!third || constantNumber(context, third) !== undefined || yieldsNumber(third))) return
  const pattern = constantText(context, second)
  if (third || pattern === undefined) {
    const message =
      'substring takes positions or a constant pattern here. For a position of the row use substr.'
    throw context.source.fault('unsupported', message, location)
  }
  checkPattern(context, pattern, location)
}

const POSITIONS = new Set(['position', 'strpos', 'length', 'char_length'])
const ARITHMETIC = new Set(['+', '-'])

function yieldsNumber(node: Node): boolean {
  if ('FuncCall' in node) return POSITIONS.has(wordsOf(node.FuncCall.funcname).at(-1) ?? '')
  if ('TypeCast' in node) return /^int[248]$/.test(wordsOf(node.TypeCast.typeName?.names).at(-1) ?? '')
  return 'A_Expr' in node && ARITHMETIC.has(wordsOf(node.A_Expr.name).join('.'))
}

const list = (names: string) => names.trim().split(/\s+/)

/** Allow-list of functions by topic: functions of their arguments only, without side effects. */
export const FUNCTIONS: ReadonlySet<string> = new Set([
  ...list(`abs ceil ceiling floor round trunc sign sqrt cbrt exp ln log log10 mod div power pow degrees radians pi sin
    cos tan asin acos atan atan2 cot sinh cosh tanh width_bucket gcd lcm scale min_scale trim_scale`),
  ...list(`lower upper initcap length char_length character_length octet_length bit_length btrim ltrim rtrim left right
    substr substring position strpos split_part replace translate reverse concat concat_ws starts_with ascii chr md5
    overlay to_hex string_to_array string_to_table repeat lpad rpad like_escape regexp_replace regexp_match
    regexp_matches regexp_split_to_array regexp_split_to_table regexp_count regexp_like regexp_instr regexp_substr
    to_char to_number`),
  ...list(`now transaction_timestamp statement_timestamp age date date_part date_trunc date_bin extract justify_days
    justify_hours justify_interval make_date make_time make_timestamp make_timestamptz make_interval isfinite timezone
    to_date to_timestamp overlaps generate_series`),
  ...list(`jsonb_array_elements jsonb_array_elements_text jsonb_array_length jsonb_build_array jsonb_build_object
    jsonb_each jsonb_each_text jsonb_extract_path jsonb_extract_path_text jsonb_object jsonb_object_keys
    jsonb_path_exists jsonb_path_match jsonb_path_query jsonb_path_query_array jsonb_path_query_first
    jsonb_path_exists_tz jsonb_path_match_tz jsonb_path_query_tz jsonb_path_query_array_tz jsonb_path_query_first_tz
    jsonb_pretty jsonb_set jsonb_insert jsonb_strip_nulls jsonb_typeof jsonb_to_record jsonb_to_recordset to_json
    to_jsonb row_to_json array_to_json json_array_elements json_array_elements_text json_array_length json_build_array
    json_build_object json_each json_each_text json_extract_path json_extract_path_text json_object_keys
    json_strip_nulls json_typeof json_to_record json_to_recordset`),
  ...list(`array_append array_cat array_length array_lower array_upper array_ndims array_position array_positions
    array_prepend array_remove array_replace array_to_string cardinality trim_array unnest generate_subscripts
    num_nulls num_nonnulls`),
  ...list(`count sum avg min max bool_and bool_or every string_agg array_agg json_agg jsonb_agg json_object_agg
    jsonb_object_agg stddev stddev_pop stddev_samp variance var_pop var_samp corr covar_pop covar_samp regr_avgx
    regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy mode percentile_cont
    percentile_disc bit_and bit_or bit_xor any_value`),
  ...list(
    `row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value`,
  ),
])

const FIND_WORDS = `Find words with ${advised('search_records')}, or with ILIKE.`

/** Replacements for functions that agents commonly try. */
const INSTEAD: Readonly<Record<string, string>> = {
  format: 'Join texts with || or concat.',
  random: 'Order by md5(id) for a stable sample.',
  clock_timestamp: 'Use now().',
  version: 'SQL reads the data of the base only, not the server.',
  current_setting: 'SQL reads the data of the base only, not settings.',
  set_config: 'Settings cannot be changed.',
  pg_sleep: 'A statement cannot wait.',
  gen_random_uuid: 'Leave id out: a new record gets one, and RETURNING id shows it.',
  uuid_generate_v4: 'Leave id out: a new record gets one, and RETURNING id shows it.',
  median: 'Use percentile_cont(0.5) WITHIN GROUP (ORDER BY x).',
  group_concat: "Use string_agg(x, ',').",
  ifnull: 'Use coalesce(x, y).',
  isnull: 'Use coalesce(x, y).',
  nvl: 'Use coalesce(x, y).',
  iif: 'Use CASE WHEN … THEN … ELSE … END.',
  if: 'Use CASE WHEN … THEN … ELSE … END.',
  strftime: "Use to_char(x, 'YYYY-MM').",
  date_format: "Use to_char(x, 'YYYY-MM').",
  datediff: 'Subtract the dates.',
  date_add: "Add an interval: x + interval '1 day'.",
  date_sub: "Subtract an interval: x - interval '1 day'.",
  year: 'Use extract(year FROM x).',
  month: 'Use extract(month FROM x).',
  day: 'Use extract(day FROM x).',
  getdate: 'Use now().',
  len: 'Use length(x).',
  instr: 'Use strpos(x, y).',
  json_extract: "Use x->'key' or x->>'key'.",
  json_value: "Use x->>'key'.",
  json_query: "Use x->'key'.",
  countif: 'Use count(*) FILTER (WHERE …).',
  sumif: 'Use sum(x) FILTER (WHERE …).',
  crosstab: 'Use one sum(x) FILTER (WHERE …) for each column.',
  to_tsvector: FIND_WORDS,
  to_tsquery: FIND_WORDS,
  plainto_tsquery: FIND_WORDS,
  websearch_to_tsquery: FIND_WORDS,
}
