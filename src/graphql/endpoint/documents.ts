/** Documents of clients, kept parsed. */
import { type DocumentNode, GraphQLError, type ParseOptions, parse, Source, visit } from 'graphql'
import { LRUCache } from 'lru-cache'
import { LIMITS } from '../../foundation/limits.ts'

/** Cache by the text of a document. Yoga's own holds 1,024 documents, however large. */
export const byText = <V extends object>() =>
  new LRUCache<string, V>({
    maxSize: LIMITS.graphqlCacheChars,
    sizeCalculation: (_, text) => text.length || 1,
  })

/** Parsed documents of all addresses, by their text. */
export const documents = byText<DocumentNode>()

/** Whether yoga has parsed a text, so that it is within the limits of texts. */
export const isKnownText = (text: unknown): boolean => typeof text === 'string' && documents.has(text)

/** NUL as it is, which a GET can send, or as an escape. */
const NUL = /\0|\\u(?:0000|\{0+\})/

/** Parses a document. Its strings are held to what those of a body are: PostgreSQL cannot store NUL. */
export function parseDocument(sent: string | Source, options: ParseOptions): DocumentNode {
  const document = parse(sent, options)
  if (!NUL.test(sent instanceof Source ? sent.body : sent)) return document
  visit(document, {
    StringValue: (node) => {
      if (node.value.includes('\0'))
        throw new GraphQLError('A string contains NUL, which cannot be stored. Remove the \\u0000.', {
          nodes: node,
        })
    },
  })
  return document
}
