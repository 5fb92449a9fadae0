/** Documents of clients, kept parsed. */
import type { DocumentNode } from 'graphql'
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
