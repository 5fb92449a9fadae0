import type { FuncCall, Node, SelectStmt } from '@pgsql/types'
import { invalid } from '../../../../foundation/errors.ts'
import { LIMITS } from '../../../../foundation/limits.ts'
import { typeNameOf } from '../allow/types.ts'
import { type Bound, encode, type Use } from '../parameters/parameter-values.ts'
import type { Parameters } from '../parameters/parameters.ts'
import { type GuardContext, replaceNode, wordsOf } from '../relations/context.ts'

/** A bind value, and the parameter of the caller that it is of. */
export type Slot = { readonly value: string | null; readonly path: string; readonly name: string }

/**
 * Casts each parameter to the type of its JSON value, so that it behaves like a literal; returns the bind
 * values. A parameter with two types becomes two parameters.
 * @throws VALIDATION_ERROR for a missing parameter
 */
export function castParameters(context: GuardContext, statement: SelectStmt): Slot[] {
  const bound = new Map<string, Slot & { number: number }>()
  const { pathOf, nameOf } = context.parameters
  const encoded = openEncoder(context)
  const place = (node: Node, number: number, use: Use) => {
    if (number < 1 || number > context.parameters.values.length) throw missing(context, number, node)
    context.used.add(number)
    if (use.isNullTest) return
    const { value, type, form } = encoded(number, use)
    const key = `${number} ${form} ${type ?? use.castTo ?? ''}`
    const of = { path: pathOf(number), name: nameOf(number) }
    const slot = bound.get(key) ?? { number: bound.size + 1, value, ...of }
    bound.set(key, slot)
    const reference: Node = { ParamRef: { number: slot.number } }
    replaceNode(node, type ? castTo(reference, type) : reference)
  }
  visit(context, { SelectStmt: statement }, place)
  checkSlots([...bound.values()])
  return [...bound.values()]
}

/**
 * Checks that every parameter is used.
 * @throws VALIDATION_ERROR
 */
export function refuseUnused(parameters: Parameters, used: ReadonlySet<number>): void {
  parameters.values.forEach((_, index) => {
    if (!used.has(index + 1)) throw unused(parameters, index + 1)
  })
}

/** Limits the values, since each is sent once per type. */
function checkSlots(slots: readonly { value: string | null }[]): void {
  const most = 2 * LIMITS.sqlParameterChars
  if (slots.reduce((sum, { value }) => sum + (value?.length ?? 0), 0) <= most) return
  const message = 'Long parameters are used as too many different types. Cast each to one type only.'
  throw invalid({ path: '/params', code: 'too_long', message, expected: most })
}

/**
 * Encodes each value once per kind of context and assigns one number to equal encodings: a statement may use
 * one large parameter a thousand times.
 */
function openEncoder(context: GuardContext): (number: number, use: Use) => Bound & { form: number } {
  const known = new Map<string, Bound & { form: number }>()
  const forms = new Map<number, (string | null)[]>()
  return (number, use) => {
    const key = JSON.stringify([number, use])
    const found = known.get(key)
    if (found) return found
    const bound = encode(context.parameters.valueOf(number), use)
    const texts = forms.get(number) ?? []
    forms.set(number, texts)
    if (!texts.includes(bound.value)) texts.push(bound.value)
    const made = { ...bound, form: texts.indexOf(bound.value) }
    known.set(key, made)
    return made
  }
}

type Place = (node: Node, number: number, use: Use) => void

function visit(context: GuardContext, node: Node, place: Place, use: Use = {}): void {
  if ('ParamRef' in node) {
    place(node, node.ParamRef.number ?? 0, use)
    return
  }
  if ('NullTest' in node && node.NullTest.arg && 'ParamRef' in node.NullTest.arg) {
    foldNullTest(context, node, place)
    return
  }
  const [[, fields] = ['', {}]] = Object.entries(node)
  for (const [name, child] of Object.entries(fields as Record<string, unknown>))
    for (const [index, part] of (Array.isArray(child) ? child : [child]).entries())
      if (typeof part === 'object' && part !== null)
        visit(
          context,
          isWrapped(part) ? part : { [name]: part },
          place,
          useOf(context, node, name, index, part),
        )
}

const isWrapped = (part: object) => /^[A-Z]/.test(Object.keys(part)[0] ?? '')

/** Evaluates `$1 IS NULL` in advance, since it gives PostgreSQL no type for `$1`. */
function foldNullTest(context: GuardContext, node: Node, place: Place): void {
  if (!('NullTest' in node) || !node.NullTest.arg || !('ParamRef' in node.NullTest.arg)) return
  const number = node.NullTest.arg.ParamRef.number ?? 0
  place(node.NullTest.arg, number, { isNullTest: true })
  const isNull = context.parameters.valueOf(number) === null
  const boolval = isNull === (node.NullTest.nulltesttype === 'IS_NULL')
  replaceNode(node, { A_Const: { boolval: boolval ? { boolval } : {} } })
}

const ARRAY_OPERATORS = new Set(['#>', '#>>', '#-', '?|', '?&'])
const ARRAY_FUNCTIONS =
  /^(unnest|cardinality|trim_array|array_(?!agg|to_json|prepend).*|generate_subscripts)$/
/** Functions with polymorphic arguments, which determine no parameter type. */
const TAKES_ANYTHING =
  /^(concat(_ws)?|count|jsonb?_build_\w+|to_jsonb?|jsonb?_agg|jsonb?_object_agg|array_agg|num_\w+|min|max|any_value|lag|lead)$/

/** What the context of a parameter implies about its type. */
function useOf(context: GuardContext, node: Node, field: string, index: number, part: object): Use {
  if ('TypeCast' in node && field === 'arg') {
    const { typeName } = node.TypeCast
    const isArray = (typeName?.arrayBounds?.length ?? 0) > 0
    return {
      castTo: JSON.stringify([typeNameOf(typeName), isArray]),
      isArray,
      isJson: !isArray && /^jsonb?$/.test(typeNameOf(typeName)),
    }
  }
  if ('FuncCall' in node && field === 'args') return useInCall(node.FuncCall, index)
  if (!('A_Expr' in node)) return {}
  const { kind, name, lexpr, rexpr } = node.A_Expr
  if (kind === 'AEXPR_IN' && field === 'rexpr') refuseArrays(context, part)
  const isQuantified = kind === 'AEXPR_OP_ANY' || kind === 'AEXPR_OP_ALL'
  if (field === 'rexpr' && (isQuantified || ARRAY_OPERATORS.has(wordsOf(name).join('.'))))
    return { isArray: true }
  const other = field === 'rexpr' ? lexpr : rexpr
  return other && isArrayNode(other) ? { isArray: true } : {}
}

function useInCall({ funcname }: FuncCall, index: number): Use {
  const name = wordsOf(funcname).at(-1) ?? ''
  if (index === 0 && ARRAY_FUNCTIONS.test(name)) return { isArray: true, isUntyped: true }
  return TAKES_ANYTHING.test(name) ? { isUntyped: true } : {}
}

function isArrayNode(node: Node): boolean {
  if ('A_ArrayExpr' in node) return true
  return 'TypeCast' in node && (node.TypeCast.typeName?.arrayBounds?.length ?? 0) > 0
}

function refuseArrays(context: GuardContext, list: object): void {
  const items = 'List' in list ? ((list.List as { items?: Node[] }).items ?? []) : []
  for (const item of items)
    if ('ParamRef' in item && Array.isArray(context.parameters.valueOf(item.ParamRef.number ?? 0))) {
      const message = 'IN ($1) does not take a list. Write = ANY($1).'
      throw context.source.fault('unsupported', message, item.ParamRef.location)
    }
}

const castTo = (arg: Node, type: string): Node => ({
  TypeCast: {
    arg,
    typeName: {
      names: typeWords(type.replace('[]', '')).map((sval) => ({ String: { sval } })),
      typemod: -1,
      ...(type.endsWith('[]') && { arrayBounds: [{ Integer: { ival: -1 } }] }),
    },
  },
})

/** The parser's name of a type: types with SQL keywords are qualified with pg_catalog. */
const typeWords = (type: string) => (type === 'text' || type === 'jsonb' ? [type] : ['pg_catalog', type])

function missing(context: GuardContext, number: number, node: Node) {
  const location = 'ParamRef' in node ? node.ParamRef.location : undefined
  const count = context.parameters.values.length
  const message = `The statement uses $${number}, and params has ${count === 0 ? 'none' : `only ${count}`}.`
  if (number < 1)
    return context.source.fault('missing_parameter', 'Parameters are numbered from $1.', location)
  return invalid({ path: context.parameters.pathOf(number), code: 'missing_parameter', message })
}

function unused(parameters: Parameters, number: number) {
  const message = `The statement does not use $${number}. Leave it out of params, or use it.`
  return invalid({ path: parameters.pathOf(number), code: 'unused_parameter', message })
}
