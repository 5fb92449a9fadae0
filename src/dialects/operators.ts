import { isClose } from '../contract/suggest.ts'
import { LIMITS } from '../foundation/limits.ts'
import { Unclear } from './filter-ast.ts'
import {
  among,
  between,
  contains,
  emptiness,
  equality,
  escaped,
  type Meaning,
  member,
  members,
  negated,
  notAmong,
  notBetween,
  nullity,
  ordering,
  pattern,
  text,
} from './operands.ts'

const as = (part: string): string => part
const like = pattern('like', as)
const ilike = pattern('ilike', as)
const holds = pattern('ilike', (part) => `%${escaped(part)}%`)
const starts = text('starts_with')
const ends = pattern('like', (part) => `%${escaped(part)}`)

/**
 * How to interpret the value where every value is text, as in a URL: a list `a,b`, a Boolean, a text, or any
 * literal.
 */
type Takes = 'list' | 'flag' | 'text' | 'any'

/** Operator spellings of other languages, without separators and in lower case, by meaning. */
const SPELLINGS: readonly [Takes, Meaning, string][] = [
  ['any', equality('eq', 'is_null'), 'eq equals equal equalto isequal isequalto is same = == ==='],
  [
    'any',
    equality('neq', 'is_not_null'),
    'neq ne noteq notequals notequal notequalto isnotequal isnot doesnotequal isdistinct != !== <> ≠',
  ],
  ['any', ordering('gt'), 'gt greater greaterthan isgreaterthan after isafter above >'],
  [
    'any',
    ordering('gte'),
    'gte ge greaterorequal greaterequal greaterthanorequal greaterthanorequalto greaterthanequal atleast >= ≥',
  ],
  ['any', ordering('lt'), 'lt less lessthan islessthan before isbefore below <'],
  [
    'any',
    ordering('lte'),
    'lte le lessorequal lessequal lessthanorequal lessthanorequalto lessthanequal atmost <= ≤',
  ],
  ['list', among, 'in isin oneof isoneof'],
  ['list', notAmong, 'notin nin isnotin noneof isnoneof'],
  ['text', like, 'like ~~'],
  ['text', ilike, 'ilike ~~*'],
  ['text', negated(like), 'notlike nlike !~~'],
  ['text', negated(ilike), 'notilike nilike !~~*'],
  ['text', starts, 'startswith startwith beginswith prefix'],
  ['text', negated(starts), 'notstartswith nstartswith'],
  ['text', pattern('ilike', (part) => `${escaped(part)}%`), 'istartswith startswithi'],
  ['text', ends, 'endswith endwith suffix'],
  ['text', negated(ends), 'notendswith nendswith'],
  ['text', pattern('ilike', (part) => `%${escaped(part)}`), 'iendswith endswithi'],
  ['text', pattern('ilike', escaped), 'ieq eqi iexact iequals'],
  ['text', contains, 'contains contain includes include'],
  ['text', negated(contains), 'notcontains ncontains doesnotcontain notcontain notincludes'],
  ['text', pattern('like', (part) => `%${escaped(part)}%`), 'substring'],
  ['text', holds, 'icontains containsi'],
  ['text', negated(holds), 'nicontains notcontainsi noticontains'],
  ['text', text('search'), 'search fulltext'],
  ['flag', nullity('is_null', 'is_not_null'), 'isnull null missing notexists'],
  ['flag', nullity('is_not_null', 'is_null'), 'isnotnull notnull nnull exists exist'],
  ['flag', emptiness(true), 'empty isempty blank isblank'],
  ['flag', emptiness(false), 'nempty notempty isnotempty notblank isnotblank'],
  ['any', member, 'has arraycontains'],
  ['list', members('has_any'), 'hasany hassome containsany overlaps overlap'],
  ['list', members('has_all'), 'hasall hasevery containsall all'],
  ['list', between, 'between btw'],
  ['list', notBetween, 'notbetween nbetween nbtw'],
]

type Operator = { takes: Takes; meaning: Meaning }
const OPERATORS = new Map<string, Operator>()
for (const [takes, meaning, words] of SPELLINGS) {
  const operator = { takes, meaning }
  for (const word of words.split(' ')) OPERATORS.set(word, operator)
}

const flat = (word: string): string =>
  word
    .toLowerCase()
    .replace(/^[$_]+/, '')
    .replace(/[\s_-]+/g, '')

/**
 * Resolves an operator spelling.
 * @throws Unclear
 */
export function operatorOf(word: string): Operator {
  if (word.length > LIMITS.operatorWordChars) throw new Unclear()
  const wanted = flat(word)
  const known = OPERATORS.get(wanted)
  if (known) return known
  // One edit can lead to several operators: `iike` may be like or ilike.
  const close =
    wanted.length > 3 ? [...OPERATORS].filter(([each]) => each.length > 2 && isClose(wanted, each)) : []
  const [only, ...others] = new Set(close.map(([, operator]) => operator))
  if (!only || others.length > 0) throw new Unclear()
  return only
}

/** Whether the word is an exact operator spelling in a supported language. */
export const isOperatorWord = (word: string): boolean =>
  word.length <= LIMITS.operatorWordChars && OPERATORS.has(flat(word))
