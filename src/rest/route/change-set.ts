/** Answers of writes into a change-set name it: others see them once it is promoted. */
import { z } from 'zod'
import type { Reply } from './reply.ts'

const Told = {
  change_set: z.string().optional().meta({ description: 'The change-set that it was written into.' }),
}

export const withChangeSet = (answers: z.ZodType): z.ZodType => z.intersection(answers, z.looseObject(Told))

export const inChangeSet = (reply: Reply, id: string | null): Reply =>
  id === null ? reply : { ...reply, body: { ...reply.body, change_set: id } }
