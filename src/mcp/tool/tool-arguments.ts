import type { z } from 'zod'
import { check, inBody } from '../../contract/validate.ts'
import type { PortableSchema } from '../schema-projection/publish.ts'
import { decodeStringified } from './decode-arguments.ts'

/** The arguments of a call in the shape that was published for them. @throws VALIDATION_ERROR with every fault */
export function readArguments<In extends z.ZodObject>(
  args: Record<string, unknown>,
  shape: In,
  published: PortableSchema,
): z.output<In> {
  return check(shape, decodeStringified(withoutFiller(args, shape), published), inBody())
}

/** Clients that cannot call without arguments make one up. */
const FILLER = 'random_string'

function withoutFiller(args: Record<string, unknown>, shape: z.ZodObject): Record<string, unknown> {
  if (
    !Object.hasOwn(args, FILLER) ||
    Object.values(shape.shape).some((each) => !each.safeParse(undefined).success)
  )
    return args
  const { [FILLER]: _, ...meant } = args
  return meant
}
