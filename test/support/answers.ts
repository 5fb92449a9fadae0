import { expect } from 'vitest'
import type { Answer, Body } from './server.ts'

/** The error codes with their HTTP statuses. */
const STATUS = {
  VALIDATION_ERROR: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  RATE_LIMITED: 429,
  INTERNAL_ERROR: 500,
} as const
export type Code = keyof typeof STATUS

const DETAIL_KEYS = [
  'path',
  'code',
  'message',
  'expected',
  'received',
  'allowed',
  'hint',
  'count',
  'samples',
  'run_id',
]
export const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
export const UUID7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

export const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index))

export const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Asserts a success with the status and returns the body. */
export function succeed(answer: Answer, status = 200): Body {
  expect(answer.status, answer.text.slice(0, 400)).toBe(status)
  return answer.body
}

/** Asserts a failure in the error format and returns the error. */
export function expectFailure(answer: Answer, code: Code): Body {
  expect(answer.status, `${code} expected: ${answer.text.slice(0, 400)}`).toBe(STATUS[code])
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(Object.keys(answer.body)).toEqual(['error'])
  const { error } = answer.body
  expect(Object.keys(error).sort()).toEqual(['code', 'details', 'message', 'request_id'])
  expect(error.code).toBe(code)
  expect(error.message).toMatch(/\S+ \S+/)
  for (const detail of error.details) {
    for (const key of ['path', 'code', 'message']) expect(detail[key], key).toBeTypeOf('string')
    expect(detail.path).toMatch(/^(|\/.*|(query|header|path)\/.+)$/s)
    expect(DETAIL_KEYS).toEqual(expect.arrayContaining(Object.keys(detail)))
  }
  const replayed = answer.headers.get('idempotency-replayed') === 'true'
  if (!replayed) expect(error.request_id).toBe(answer.headers.get('x-request-id'))
  // No internals leak: no SQL, no file names, no stack traces.
  expect(answer.text).not.toMatch(
    /\bplinth\.[a-z]|SELECT |INSERT INTO|prisma|node_modules|\.ts\b|\n? {4}at /i,
  )
  return error
}

/** Asserts a 400 with a detail at the path, and returns the detail. */
export function expectFault(answer: Answer, path: string): Body {
  const { details } = expectFailure(answer, 'VALIDATION_ERROR')
  const found = details.find((detail: Body) => detail.path === path)
  expect(found, `a detail at ${path} in ${JSON.stringify(details)}`).toBeDefined()
  return found
}

/** Asserts a failure with one detail. */
export function expectDetail(answer: Answer, status: number, detail: Body): void {
  expect(answer.status, answer.text.slice(0, 400)).toBe(status)
  expect(answer.body.error.details).toMatchObject([detail])
}
