import Fastify, { type FastifyInstance } from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DomainError } from '../../../src/foundation/errors.ts'
import { sendError } from '../../../src/http/errors.ts'

let app: FastifyInstance
beforeAll(() => {
  app = Fastify({ genReqId: () => 'req_1' })
  app.setErrorHandler(sendError)
  app.get('/big', async () => {
    const detail = { path: '/n', code: 'custom', message: 'hush', expected: 1n }
    throw new DomainError('CONFLICT', 'hush', { details: [detail] })
  })
  app.get('/broken', async () => {
    throw Object.defineProperty({}, 'statusCode', {
      get: () => {
        throw new Error('hush')
      },
    })
  })
  app.get('/null', async () => Promise.reject(null))
})
afterAll(() => app.close())

test.each(['/big', '/broken', '/null'])(
  'a failure that cannot be sent is an internal error in the usual form: %s',
  async (url) => {
    const answer = await app.inject({ url })
    expect(answer.statusCode).toBe(500)
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(answer.json()).toEqual({
      error: {
        code: 'INTERNAL_ERROR',
        message: 'Internal error. The server log has the details under this request id.',
        details: [],
        request_id: 'req_1',
      },
    })
    expect(answer.body).not.toContain('hush')
  },
)
