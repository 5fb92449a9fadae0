import { isObject } from '../../foundation/is-object.ts'

/** A request for the shapes of the SDKs, and the arguments that it leaves out. */
type Split = { request: { method: string }; args: Record<string, unknown> | undefined }

/**
 * Leaves the arguments out of a tool call that a shape reads. It would copy them member by member, and the copy would
 * have to be checked again. The shapes ask no more of arguments than an object; others stay in, to be refused.
 */
export function splitCall(request: { method: string; params?: unknown }): Split {
  const { method, params } = request
  const args = method === 'tools/call' && isObject(params) ? params['arguments'] : undefined
  return isObject(args)
    ? { request: { ...request, params: { ...(params as object), arguments: {} } } as Split['request'], args }
    : { request, args: undefined }
}
