/** The extensions of a client that the server makes use of. */
import { isObject } from '../../foundation/is-object.ts'
import type { AddressSession } from './address-session.ts'
import { MissingCapability, type Wire } from './provider.ts'

const VIEWS = 'io.modelcontextprotocol/ui'
export const TASKS = 'io.modelcontextprotocol/tasks'

/** The media type of a view. */
export const VIEW_TYPE = 'text/html;profile=mcp-app'

/** Whether a client takes a task in place of a result. */
export const takesTasks = (declared: unknown): boolean =>
  isObject(declared) && isObject(declared['extensions']) && isObject(declared['extensions'][TASKS])

/** The refusal of a client that does not. */
export const noTasks = (): MissingCapability => new MissingCapability({ extensions: { [TASKS]: {} } })

/** Whether a client shows views of its servers (MCP Apps). */
function showsViews({ extensions }: Wire): boolean {
  const views = isObject(extensions) ? extensions[VIEWS] : undefined
  return isObject(views) && Array.isArray(views['mimeTypes']) && views['mimeTypes'].includes(VIEW_TYPE)
}

/** The part of a client's capabilities that names these extensions. */
export const usedExtensions = (declared: Wire): Wire =>
  showsViews(declared) ? { extensions: { [VIEWS]: { mimeTypes: [VIEW_TYPE] } } } : {}

/** The session of a request, with what its client declares. */
export const ofClient = (session: AddressSession, declared: unknown): AddressSession =>
  isObject(declared) && showsViews(declared) ? { ...session, hasViews: true } : session
