/** GraphQL type, queries and mutations of toolsets. */
import { TOOLSET } from '../engine/configuration/endpoints/index.ts'
import { configuration } from './configuration.ts'

configuration('Toolset', TOOLSET, {
  description: 'A named list of tool selections that endpoints share.',
  fields: (t) => ({
    name: t.exposeString('name'),
    description: t.exposeString('description', { nullable: true }),
    tools: t.expose('tools', {
      type: 'JSON',
      description: 'Selections of tools, in the form of an endpoint.',
    }),
  }),
  inputs: (t) => ({ name: t.string(), description: t.string(), tools: t.field({ type: 'JSON' }) }),
  list: 'The toolsets of a base, newest first.',
  put: 'Creates a toolset or replaces it whole.',
  remove: 'Deletes a toolset that no endpoint uses.',
})
