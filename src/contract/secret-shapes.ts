import { z } from 'zod'
import { LIMITS } from '../foundation/limits.ts'
import { isBaseId, isProductionBaseId } from './ids.ts'
import { Description } from './shapes.ts'

/** Zod shapes of the secrets of the vault, shared by all layers. */

/** In a list of bases: all production bases. */
export const ALL_BASES = '*'

/** What opens a secret to all previews of a base. */
export const previewsOf = (base: string): string => `${base}--*`

/** Where a secret can be used: a base, all production bases, or all previews of a base. */
const isReach = (text: string): boolean =>
  text === ALL_BASES || isBaseId(text) || (text.endsWith('--*') && isProductionBaseId(text.slice(0, -3)))

/** The body of a secret on every surface. */
export const SecretBody = z.strictObject({
  value: z
    .string()
    .min(1, 'It must have at least one character.')
    .refine(
      (text) => Buffer.byteLength(text) <= LIMITS.secretBytes,
      `It can have at most ${LIMITS.secretBytes} bytes.`,
    )
    .optional()
    .meta({
      format: 'password',
      description: `The value, which no answer shows. At most ${LIMITS.secretBytes} bytes. Left out, it keeps the stored one.`,
    }),
  description: Description.optional().meta({ description: 'Left out, it keeps the stored one.' }),
  bases: z
    .array(
      z
        .string()
        .max(64)
        .refine(
          isReach,
          'Send the id of a base, "*" for all production bases, or "<base>--*" for its previews.',
        ),
    )
    .min(1, 'It must name at least one base, or send ["*"] for all production bases.')
    .max(LIMITS.secretBases, `It can name at most ${LIMITS.secretBases} bases.`)
    .optional()
    .meta({
      description:
        'The bases that may use it: ids, `*` for all production bases, `<base>--*` for all previews of a base. `["*"]` for a new secret. Left out, it keeps the stored ones.',
    }),
})
