import { EndpointBody } from '../contract/endpoint-shapes.ts'
import { answerOf, crud, WarningsMeta } from './route/crud.ts'

/** An endpoint in responses. */
export const Endpoint = answerOf('Endpoint', EndpointBody)

/** REST routes of endpoints. */
export const endpoints = crud('/:base_id/endpoints', {
  tag: 'Endpoints',
  label: 'An endpoint',
  body: EndpointBody,
  answers: Endpoint.extend({ meta: WarningsMeta }),
})
