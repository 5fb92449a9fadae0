import {
  type ASTVisitor,
  FieldsOnCorrectTypeRule,
  GraphQLError,
  getNamedType,
  isObjectType,
  KnownArgumentNamesRule,
  KnownTypeNamesRule,
  specifiedRules,
  type ValidationContext,
  type ValidationRule,
} from 'graphql'
import { own } from '../../foundation/own.ts'

/** The standard rule lists all types of the schema, which would make them. */
function knownTypeNames(context: ValidationContext): ASTVisitor {
  return {
    NamedType(node) {
      const name = node.name.value
      if (!context.getSchema().getType(name))
        context.reportError(new GraphQLError(`Unknown type ${JSON.stringify(name)}.`, { nodes: node }))
    },
  }
}

/** A standard rule whose messages say what to write, as those of the other surfaces do. */
const advising =
  (rule: ValidationRule, advise: (context: ValidationContext, message: string, name: string) => string) =>
  (context: ValidationContext): ASTVisitor =>
    rule(
      Object.create(context, {
        reportError: {
          value: ({ message, nodes }: GraphQLError) => {
            const [node] = nodes ?? []
            const name = node && 'name' in node ? (node.name?.value ?? '') : ''
            context.reportError(new GraphQLError(advise(context, message, name), { nodes: nodes ?? null }))
          },
        },
      }) as ValidationContext,
    )

const MOST_NAMES = 20
function argumentsOf(context: ValidationContext, message: string, argument: string): string {
  const names = context.getDirective() ? [] : (context.getFieldDef()?.args.map((each) => each.name) ?? [])
  const isShort = names.length > 0 && names.length <= MOST_NAMES
  if (argument === 'externalId' && names.includes('id'))
    return `${message} Find the record with a filter on external_id, and send its id.`
  return isShort ? `${message} It takes ${names.join(', ')}.` : message
}

/** What other servers call a field. */
const RENAMED: Readonly<Record<string, string>> = {
  ...{ nodes: 'data', edges: 'data', items: 'data', results: 'data' },
  ...{ me: 'ownToken', viewer: 'ownToken', whoami: 'ownToken' },
}

/** For a list under the name that other servers give it, and a field of what is one level below. */
function placeOf(context: ValidationContext, message: string, name: string): string {
  const type = context.getParentType()
  if (!isObjectType(type)) return message
  const fields = type.getFields()
  const renamed = own(RENAMED, name)
  if (renamed !== undefined && Object.hasOwn(fields, renamed))
    return `${message.replace(/ Did you mean .*$/, '')} Did you mean "${renamed}"?`
  if (type === context.getSchema().getQueryType()) {
    const stem = name.toLowerCase().replace(/^(?:all|list|get)_?(?=.)/, '')
    const lists = [stem, stem.replace(/s$/, ''), stem.replace(/es$/, '')].map((each) => `${each}records`)
    const meant = Object.keys(fields).find((each) => lists.includes(each.toLowerCase()))
    return meant ? `${message.replace(/ Did you mean .*$/, '')} Did you mean "${meant}"?` : message
  }
  const isRoot = type === context.getSchema().getMutationType()
  if (isRoot || message.includes(' Did you mean ') || Object.keys(fields).length > MOST_NAMES) return message
  const holder = Object.values(fields).find((field) => {
    const below = getNamedType(field.type)
    return isObjectType(below) && Object.hasOwn(below.getFields(), name)
  })
  return holder ? `${message} It is in "${holder.name}": ${holder.name} { ${name} }.` : message
}

const ADVISING = new Map([
  [KnownArgumentNamesRule, advising(KnownArgumentNamesRule, argumentsOf)],
  [FieldsOnCorrectTypeRule, advising(FieldsOnCorrectTypeRule, placeOf)],
])
export const RULES: readonly ValidationRule[] = specifiedRules.map((rule) => ADVISING.get(rule) ?? rule)
/** The rules for a lazy schema. */
export const LAZY_RULES = RULES.map((rule) => (rule === KnownTypeNamesRule ? knownTypeNames : rule))
