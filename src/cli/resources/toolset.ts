/** Commands of toolsets. */
import { configuration } from '../command/configuration.ts'
import { tools } from './endpoint.ts'

export const toolset = configuration('toolsets', {
  summary: 'Toolsets: lists of tools that endpoints share',
  columns: ['id', 'name', 'version'],
  says: { tools },
})
