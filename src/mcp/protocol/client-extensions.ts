/** The extensions of a client that the server makes use of. */
import { isObject } from '../../foundation/is-object.ts'
import type { AddressSession } from './address-session.ts'
import type { Wire } from './provider.ts'

const VIEWS = 'io.modelcontextprotocol/ui'

/** The media type of a view. */
export const VIEW_TYPE = 'text/html;profile=mcp-app'

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
