/** What a step of a trace can be. */
export const STEP_KINDS = [
  'change',
  'tool_call',
  'request',
  'inbound_delivery',
  'trigger_delivery',
  'action_run',
  'promotion',
  'seed',
] as const
