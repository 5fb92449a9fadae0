/** MCP subscriptions: changes of the log become notifications of lists and resources. */
import type { Context } from '../../graphql/context.ts'
import { staticOperation } from '../../graphql/execute.ts'
import type { AddressSession } from '../protocol/address-session.ts'
import { InvalidParams } from '../protocol/provider.ts'
import type { FileName, ResourceName } from '../protocol/resource-uri.ts'
import { filesQueryOf } from '../resources/files.ts'
import { checkCondition, conditionOf, filterOf, listQueryOf } from '../resources/record-lists.ts'
import { asFault, requireResource } from '../resources/resources.ts'
import { type Followed, followResource } from './base-changes.ts'

const findType = staticOperation(
  `query FollowType($base: String!, $type: String!) { recordType(base: $base, id: $type) { id } }`,
)
const findFile = staticOperation(`query FollowFile($base: String!, $type: String!, $path: String!) {
  file(base: $base, fileType: $type, path: $path) { version }
}`)
const findFileType = staticOperation(
  `query FollowFileType($base: String!, $type: String!) { files(base: $base, fileType: $type, limit: 1) { hasMore } }`,
)
const findRecord = staticOperation(`query FollowRecord($base: String!, $type: String!, $id: String!) {
  record(base: $base, recordType: $type, id: $id) { id }
}`)
const findRecords =
  staticOperation(`query FollowRecords($base: String!, $type: String!, $filter: JSON, $cursor: String) {
    records(base: $base, recordType: $type, filter: $filter, cursor: $cursor, limit: 1) { hasMore }
  }`)
/** The resource subscriptions of one session. */
export type Follows = {
  /**
   * Subscribes.
   * @throws ResourceNotFound, InvalidParams like a read; RATE_LIMITED above the limits
   */
  follow(uri: string): Promise<void>
  unfollow(uri: string): void
  /** Ends all subscriptions. */
  close(): void
}

/**
 * Opens the subscriptions of a session. Calls `tell` with the subscribed URI when a change may affect it. A
 * filtered list is affected if a changed record matched before or matches after the change. Calls `over` when
 * the token, its grants, a base or the server is gone and notifications end.
 */
export function openFollows(
  session: AddressSession,
  notify: (uri: string) => void,
  over: () => void,
): Follows {
  /** Unsubscribe functions by URI; undefined while a subscription starts. */
  const followed = new Map<string, (() => void) | undefined>()
  return {
    async follow(uri) {
      if (followed.has(uri)) return
      followed.set(uri, undefined)
      const follower = { notify: () => notify(uri), over }
      try {
        const leave = await followResource(session.context, await readFollowed(session, uri), follower)
        if (followed.has(uri)) followed.set(uri, leave)
        else leave()
      } catch (thrown) {
        followed.delete(uri)
        throw thrown
      }
    },
    unfollow(uri) {
      followed.get(uri)?.()
      followed.delete(uri)
    },
    close() {
      for (const leave of followed.values()) leave?.()
      followed.clear()
    },
  }
}

/**
 * Checks that the session may subscribe.
 * @throws ResourceNotFound, InvalidParams like a read
 */
export async function checkSubscribable(session: AddressSession, uri: string): Promise<void> {
  await readFollowed(session, uri)
}

/** Parses the URI and reads the resource to check access. A page of a list subscribes to the whole list. */
async function readFollowed(session: AddressSession, uri: string): Promise<Followed> {
  const name = requireResource(session, uri)
  try {
    return await find(name, session)
  } catch (thrown) {
    throw asFault(thrown, uri)
  }
}

/** Subscribing to files needs what reading them needs. */
async function findFiles(name: FileName, context: Context): Promise<Followed> {
  const { base, type } = name
  if (name.kind === 'file') {
    await findFile(name, context)
    return name
  }
  const { prefix = '' } = filesQueryOf(name)
  await findFileType({ base, type }, context)
  return { kind: 'files', base, type, prefix: prefix.normalize('NFC') }
}

async function find(name: ResourceName, { context }: AddressSession): Promise<Followed> {
  if (name.kind === 'file' || name.kind === 'files') return findFiles(name, context)
  if (name.kind === 'run' || name.kind === 'runs')
    throw new InvalidParams(
      'Runs of actions cannot be subscribed to: they are not in the change log. Subscribe to the records that the action writes, or read the runs again.',
    )
  const condition = name.kind === 'records' ? (conditionOf(listQueryOf(name)) ?? null) : null
  await checkCondition(name, condition, context)
  switch (name.kind) {
    case 'type':
      await findType(name, context)
      return name
    case 'record':
      await findRecord(name, context)
      return name
    case 'records': {
      const { base, type } = name
      const query = listQueryOf(name)
      const filter = filterOf(query) ?? null
      await findRecords(
        { base, type, filter, ...(query.cursor !== undefined && { cursor: query.cursor }) },
        context,
      )
      return { kind: 'records', base, type, filter, condition }
    }
  }
}
