/** Commands of toolsets. */
import { configuration } from '../command/configuration.ts'
import { description, name } from '../command/options.ts'
import { tools } from './endpoint.ts'

export const toolset = configuration('/:base_id/toolsets', {
  summary: 'Toolsets: lists of tools that endpoints share',
  label: 'a toolset',
  columns: ['id', 'name', 'version'],
  fields: [name, description, tools],
  removes: 'a toolset that no endpoint uses',
})
