import {
  type ASTVisitor,
  GraphQLError,
  KnownTypeNamesRule,
  specifiedRules,
  type ValidationContext,
  type ValidationRule,
} from 'graphql'

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

/** The rules of the specification, for a lazy schema. */
export const LAZY_RULES: readonly ValidationRule[] = specifiedRules.map((rule) =>
  rule === KnownTypeNamesRule ? knownTypeNames : rule,
)
