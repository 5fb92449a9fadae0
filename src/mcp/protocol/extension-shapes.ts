/** Shapes of the methods of extensions, in both eras. The SDKs know those of the protocol only. */
import { z } from 'zod'

const meta = { _meta: z.looseObject({}).optional() }

/** There is one page, so a cursor changes nothing. */
export const SKILL_LIST = z.looseObject({ params: z.looseObject(meta).optional() })
export const SKILL_GET = z.looseObject({ params: z.looseObject({ ...meta, uri: z.string() }) })

const task = { ...meta, taskId: z.string() }
export const TASK = z.looseObject({ params: z.looseObject(task) })
export const TASK_UPDATE = z.looseObject({
  params: z.looseObject({ ...task, inputResponses: z.record(z.string(), z.looseObject({})) }),
})
