/** The life of change-sets: their states, steps and verdicts. */
import { z } from 'zod'
import { LIMITS } from '../foundation/limits.ts'
import { ChangedResource } from './config-shapes.ts'

/** What takes writes. A write makes it `open` again. */
const OPEN_STATES = ['open', 'submitted', 'approved', 'changes_requested'] as const
const CLOSED_STATES = ['merged', 'rejected', 'expired'] as const
export const CHANGE_SET_STATES = [...OPEN_STATES, ...CLOSED_STATES] as const
export type ChangeSetStatus = (typeof CHANGE_SET_STATES)[number]

/** What a list of previews can be narrowed to: those that copy the configuration, or change-sets. */
export const LISTED_COPIES = ['config', 'on_write'] as const
export type ListedCopy = (typeof LISTED_COPIES)[number]

/** What a list of change-sets can be narrowed to: those that take writes, or those that are decided or expired. */
export const LISTED_STATES = ['open', 'closed'] as const
export type ListedState = (typeof LISTED_STATES)[number]

export const isOpen = (status: ChangeSetStatus): boolean =>
  (OPEN_STATES as readonly string[]).includes(status)

/** What happens to a change-set. Each is an entry in the log of production. */
export const CHANGE_SET_STEPS = [
  ...['opened', 'submitted', 'commented', 'changes_requested', 'approved', 'discarded'],
  ...['merged', 'rejected', 'expired', 'reopened'],
] as const
export type ChangeSetStep = (typeof CHANGE_SET_STEPS)[number]

export const VERDICTS = ['comment', 'approve', 'request_changes', 'reject'] as const

/** What a reviewer says about a change-set, or about some of its changes. */
export const VerdictBody = z.strictObject({
  verdict: z.enum(VERDICTS).meta({
    description:
      '`approve` counts for this revision only. `request_changes` sends it back to who wrote it, `reject` closes it.',
  }),
  revision: z.int().min(0).optional().meta({
    description:
      'The revision that was looked at; `approve` needs it. Another one than the present is 409 `changed_since`.',
  }),
  resources: z
    .array(ChangedResource)
    .min(1)
    .max(LIMITS.changeSetRows)
    .optional()
    .meta({ description: 'The verdict is on these only. By default, on the whole.' }),
  text: z.string().min(1).max(LIMITS.descriptionChars).optional().meta({ description: 'A word on it.' }),
  dry_run: z.boolean().optional().meta({ description: 'Store nothing.' }),
})
