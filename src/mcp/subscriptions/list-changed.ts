import { graphql } from '../../graphql/document.ts'
import { compileSubscription, staticOperation } from '../../graphql/execute.ts'
import { isAtEndpoint, isUnchanged } from '../endpoints/endpoint.ts'
import { PROMPT_TYPE } from '../prompts/prompts.ts'
import type { AddressSession } from '../protocol/address-session.ts'
import type { Changed, Watch } from '../protocol/provider.ts'
import { isNotVisible } from '../resources/resources.ts'
import { followResource } from './base-changes.ts'
import { openFollows } from './resource-subscriptions.ts'

const followTypes = compileSubscription(
  graphql(`subscription WatchedTypes($base: String, $endpoint: String) {
    recordTypeChanges(base: $base, endpoint: $endpoint) { recordType }
  }`),
)
const findType = staticOperation(
  `query WatchedType($base: String!, $type: String!) { recordType(base: $base, id: $type) { id } }`,
)

/**
 * Sends `list_changed` when a readable type or a prompt changes, and `resources/updated` for subscribed
 * resources. On `/mcp` the lists do not depend on types, so only resources are reported.
 * @throws RATE_LIMITED
 */
export async function watch(session: AddressSession, notify: (changed: Changed) => void): Promise<Watch> {
  const over = new AbortController()
  const end = () => over.abort()
  // An endpoint can have tools of types that its resources do not show.
  const asking = isAtEndpoint(session) ? session.asking : session.context
  const types = await followTypes({ base: session.base, endpoint: session.endpoint }, asking)
  const resources = openFollows(session, (uri) => notify({ uri }), end)
  const prompts = followPrompts(session, () => notify({ list: 'prompts' }), end)
  const pass = async () => {
    await prompts.begin()
    for await (const { recordTypeChanges } of types) {
      notify({ list: 'tools' })
      notify({ list: 'resources' })
      // What the session may follow was decided when it began.
      if (recordTypeChanges.recordType === null && isAtEndpoint(session) && !(await isUnchanged(session)))
        break
      if (recordTypeChanges.recordType !== null && recordTypeChanges.recordType !== PROMPT_TYPE) continue
      notify({ list: 'prompts' })
      await prompts.begin()
    }
  }
  const close = () => {
    resources.close()
    prompts.close()
    void types.return?.()
  }
  over.signal.addEventListener('abort', close, { once: true })
  // If an error ended the loop, it is the abort reason.
  pass().then(end, (thrown: unknown) => over.abort(thrown))
  return { over: over.signal, follow: resources.follow, unfollow: resources.unfollow, close }
}

/**
 * Watches the prompts of a base once the `prompt` type exists. Until then the change log is not read for
 * them.
 */
function followPrompts({ base, context }: AddressSession, notify: () => void, over: () => void) {
  let leave: (() => void) | undefined
  let isClosed = false
  const exists = async (asked: { base: string; type: string }): Promise<boolean> => {
    try {
      await findType(asked, context)
      return true
    } catch (thrown) {
      if (isNotVisible(thrown)) return false
      throw thrown
    }
  }
  return {
    async begin(): Promise<void> {
      if (base === null || leave || !(await exists({ base, type: PROMPT_TYPE }))) return
      const what = { kind: 'records', base, type: PROMPT_TYPE, filter: null, condition: null } as const
      leave = await followResource(context, what, { notify, over })
      if (isClosed) leave()
    },
    close() {
      isClosed = true
      leave?.()
    },
  }
}
