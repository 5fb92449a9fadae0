import type { FastifyRequest } from 'fastify'
import { invalid } from '../../foundation/errors.ts'
import { tagOf } from '../../graphql/change-sets.ts'

/** Preconditions of a request, as mutation arguments. */
export type Conditions = { expectedVersions: number[] | null; mustExist: boolean; mustBeAbsent: boolean }

/** No conditions. */
export const NONE: Conditions = { expectedVersions: null, mustExist: false, mustBeAbsent: false }
const TAG = /^(W\/)?"([^"]*)"$/

/**
 * ETag of a versioned resource. None with expansions, because the version does not cover them. One of a change-set names it, so
 * that it fits nothing else.
 */
export function etagOf(body: object, changeSet: string | null): string | undefined {
  if ('_expanded' in body) return undefined
  const { version } = body as { version?: unknown }
  return typeof version === 'number' ? `"${version}${changeSet === null ? '' : tagOf(changeSet)}"` : undefined
}

/**
 * Reads the preconditions `If-Match`, `If-None-Match: *` and `expected_version`, which must agree.
 * @throws VALIDATION_ERROR
 */
export function readConditions(request: FastifyRequest, versioned: boolean, body: unknown): Conditions {
  const match = request.headers['if-match']
  const none =
    request.method === 'GET' || request.method === 'HEAD' ? undefined : request.headers['if-none-match']
  const sent = (body as { expected_version?: unknown } | null | undefined)?.expected_version
  const expected = typeof sent === 'number' ? sent : undefined
  if (match === undefined && none === undefined && expected === undefined) return NONE
  if (!versioned)
    throw invalid({
      path: match === undefined ? 'header/If-None-Match' : 'header/If-Match',
      code: 'not_conditional',
      message: 'This request does not support conditional headers.',
    })
  if (none !== undefined && request.method !== 'PUT')
    throw invalid({
      path: 'header/If-None-Match',
      code: 'not_conditional',
      message: 'If-None-Match works with PUT only. To update an existing resource, send If-Match.',
    })
  if (none !== undefined && none.trim() !== '*')
    throw invalid({
      path: 'header/If-None-Match',
      code: 'unsupported',
      message: 'On a write, If-None-Match must be "*" (create only).',
    })
  const tags = match === undefined || match.trim() === '*' ? null : readTags(match)
  request.caller.write.tags = tags && match ? match.split(',') : null
  if (tags && expected !== undefined && !tags.includes(expected))
    throw invalid({
      path: '/expected_version',
      code: 'disagrees',
      message: 'expected_version and If-Match name different versions.',
      received: expected,
    })
  return {
    expectedVersions: expected === undefined ? tags : [expected],
    mustExist: match !== undefined || expected !== undefined,
    mustBeAbsent: none !== undefined,
  }
}

/**
 * Reads `If-Match` on a resource whose ETag is a hash; null for no condition. It always exists, so `*` is none.
 * @throws VALIDATION_ERROR
 */
export function readHashes(request: FastifyRequest): string[] | null {
  const { 'if-match': match, 'if-none-match': none } = request.headers
  if (none !== undefined && request.method !== 'GET' && request.method !== 'HEAD')
    throw invalid({
      path: 'header/If-None-Match',
      code: 'not_conditional',
      message: 'This request supports If-Match only.',
    })
  return hashesOf(match)
}

/** The hashes of strong ETags; null for no condition or `*`. */
function hashesOf(match: string | undefined): string[] | null {
  if (match === undefined || match.trim() === '*') return null
  return match.split(',').map((part) => {
    const [, weak, text = ''] = TAG.exec(part.trim()) ?? []
    if (!TAG.test(part.trim())) throw unquoted('"<hash>"')
    // A weak tag never matches.
    return weak ? '' : text
  })
}

/**
 * Reads `If-Match` and `If-None-Match: *` on a file, whose ETag is the hash of its content.
 * @throws VALIDATION_ERROR
 */
export function readContentConditions(request: FastifyRequest) {
  const { mustExist, mustBeAbsent } = readConditions(request, true, undefined)
  return { hashes: hashesOf(request.headers['if-match']), mustExist, mustBeAbsent }
}

/** The versions of the strong ETags. A weak or foreign ETag becomes version 0, which none has; a change-set knows its own. */
function readTags(header: string): number[] {
  return header.split(',').map((part) => {
    const [, weak, text = ''] = TAG.exec(part.trim()) ?? []
    if (!TAG.test(part.trim())) throw unquoted('"3"')
    return !weak && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : 0
  })
}

const unquoted = (example: string) =>
  invalid({
    path: 'header/If-Match',
    code: 'malformed',
    message: `An entity tag must be quoted: If-Match: ${example}.`,
    hint: example,
  })
