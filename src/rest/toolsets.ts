import { ToolsetBody } from '../contract/endpoint-shapes.ts'
import { answerOf, crud } from './route/crud.ts'

/** REST routes of toolsets. */
export const toolsets = crud('/:base_id/toolsets', {
  tag: 'Toolsets',
  label: 'A toolset',
  body: ToolsetBody,
  answers: answerOf('Toolset', ToolsetBody),
  removes: 'a toolset that no endpoint uses',
})
