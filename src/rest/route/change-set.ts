/** Answers of writes into a change-set name it: others see them once it is promoted. */
import { z } from 'zod'
import type { Reply } from './reply.ts'

/** For shapes that have a name in the API description, and are read too. */
export const WrittenInto = {
  change_set: z.string().optional().meta({ description: 'The change-set that it was written into.' }),
}

export function withChangeSet(answers: z.ZodType): z.ZodType {
  if (!(answers instanceof z.ZodObject)) return z.intersection(answers, z.looseObject(WrittenInto))
  return 'change_set' in answers.shape ? answers : answers.extend(WrittenInto)
}

export const inChangeSet = (reply: Reply, id: string | null): Reply =>
  id === null ? reply : { ...reply, body: { ...reply.body, change_set: id } }
