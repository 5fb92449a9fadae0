import type { z } from 'zod'
import { check, inBody } from '../../contract/validate.ts'
import type { PortableSchema } from '../schema-projection/publish.ts'
import { decodeStringified } from './decode-arguments.ts'

/**
 * Validates the arguments of a call against the shape of its tool.
 * @throws VALIDATION_ERROR with every fault
 */
export function readArguments<In extends z.ZodObject>(
  args: Record<string, unknown>,
  shape: In,
  published: PortableSchema,
): z.output<In> {
  return check(shape, decodeStringified(withoutFiller(args, shape), published), inBody())
}

/** Some clients cannot call a tool without arguments and send this placeholder. */
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
