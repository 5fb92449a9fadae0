/** Introspection of the schema of a base: from its text, in a thread, kept by document. */
import { type DocumentNode, Kind, type OperationDefinitionNode, print, type SelectionSetNode } from 'graphql'
import { LRUCache } from 'lru-cache'
import { digest } from '../../contract/canonical-hash.ts'
import { DomainError, invalid } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { runInWorker } from '../../foundation/run-in-worker.ts'
import type { BaseView } from '../base/base-view.ts'
import { textOf } from '../base/schemas.ts'
import type { Introspection, IntrospectionAnswer } from './introspect.ts'

type Asked = {
  document: DocumentNode
  operationName?: string | null | undefined
  variableValues?: Readonly<Record<string, unknown>> | null | undefined
}

const answers = new LRUCache<string, string>({
  maxSize: LIMITS.introspectionChars,
  sizeCalculation: (text) => text.length,
})
const running = new Map<string, Promise<string>>()
let last: Promise<unknown> = Promise.resolve()

/**
 * The answer to an operation as JSON text; null if it asks for records.
 * @throws VALIDATION_ERROR if it asks for both, or for too much
 */
export async function introspected(seen: BaseView, asked: Asked): Promise<string | null> {
  const names = rootNames(asked)
  if (!names.some(isIntrospection)) return null
  if (names.some((name) => !name.startsWith('__'))) throw mixed()
  if (names.filter((name) => name === '__schema').length > 1) throw several()
  const { document, operationName = null, variableValues } = asked
  const input = { document: print(document), operationName, variables: variableValues ?? {} }
  const { text: schema, etag } = await textOf(seen)
  const key = digest([etag, input])
  const known = answers.get(key)
  if (known !== undefined) return known
  const answer = running.get(key) ?? inTurn(key, { schema, ...input })
  running.set(key, answer)
  return answer
}

/** One thread at a time: each has a schema in memory. */
function inTurn(key: string, input: Introspection): Promise<string> {
  if (running.size >= LIMITS.introspectionsWaiting) throw busy()
  const answer = last.then(() => answered(key, input)).finally(() => running.delete(key))
  last = answer.catch(() => {})
  return answer
}

async function answered(key: string, input: Introspection): Promise<string> {
  const bounds = { ms: LIMITS.introspectionMs, megabytes: LIMITS.introspectionMegabytes }
  const answer = await runInWorker<IntrospectionAnswer>(import.meta.url, './introspect', input, bounds)
  if (answer && 'fault' in answer) throw unanswerable(answer.fault)
  const text = answer?.text
  if (text === undefined || text.length > LIMITS.introspectionChars) throw tooLarge()
  answers.set(key, text)
  return text
}

export const isIntrospection = (name: string) => name === '__schema' || name === '__type'

/** The names of the root fields of the operation, once for each key of the answer. */
export function rootNames({ document, operationName }: Asked): string[] {
  const fragments = new Map<string, SelectionSetNode>()
  const operations: OperationDefinitionNode[] = []
  for (const part of document.definitions) {
    if (part.kind === Kind.FRAGMENT_DEFINITION) fragments.set(part.name.value, part.selectionSet)
    if (part.kind === Kind.OPERATION_DEFINITION) operations.push(part)
  }
  const names = new Map<string, string>()
  const visited = new Set<string>()
  const walk = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD)
        names.set(selection.alias?.value ?? selection.name.value, selection.name.value)
      else if (selection.kind === Kind.INLINE_FRAGMENT) walk(selection.selectionSet)
      else if (!visited.has(selection.name.value)) {
        visited.add(selection.name.value)
        const fragment = fragments.get(selection.name.value)
        if (fragment) walk(fragment)
      }
    }
  }
  const chosen = operations.find(({ name }) => !operationName || name?.value === operationName)
  if (chosen) walk(chosen.selectionSet)
  return [...names.values()]
}

const mixed = () =>
  invalid({
    path: '/query',
    code: 'exclusive',
    message:
      'An operation asks either for the schema or for records. Send __schema and __type in a request of their own.',
  })

const several = () =>
  invalid({
    path: '/query',
    code: 'too_many',
    message: 'An operation asks for __schema once. Merge the selections, or send several requests.',
    expected: 1,
  })

const unanswerable = (message: string) => invalid({ path: '/query', code: 'graphql', message })

const tooLarge = () =>
  invalid({
    path: '/query',
    code: 'too_large',
    message: `The answer is too large, or takes too long. Ask for less of the schema, or read it as text from /graphql/{base}/schema.graphql.`,
  })

const busy = () =>
  new DomainError(
    'RATE_LIMITED',
    'Too many requests for schemas are waiting. Try again, or read the schema as text.',
    {
      retryAfterSeconds: 5,
    },
  )
