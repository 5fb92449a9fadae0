/** Validation rules for caller-chosen ids. Specified in docs/api-design.md. */
const BASE = /^[a-z0-9](?:[a-z0-9-]{0,46}[a-z0-9])?$/
const PREVIEW_NAME = /^[a-z0-9](?:[a-z0-9-]{0,14}[a-z0-9])?$/
const TYPE = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/
const RECORD = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what an external id must not hold.
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/
const RESERVED_BASES = new Set(['bases', 'workspaces', 'databases', 'tokens', 'vault', 'accounts'])

export const isProductionBaseId = (id: string): boolean =>
  BASE.test(id) && !id.includes('--') && !RESERVED_BASES.has(id)

/** Whether the text can follow `<base>--` in the id of a preview. */
export const isPreviewName = (name: string): boolean => PREVIEW_NAME.test(name) && !name.includes('--')

const isPreviewId = (id: string): boolean => {
  const [production, name, ...more] = id.split('--')
  return more.length === 0 && isProductionBaseId(production ?? '') && isPreviewName(name ?? '')
}

export const isBaseId = (id: string): boolean => isProductionBaseId(id) || isPreviewId(id)
export const isTypeId = (id: string): boolean => TYPE.test(id)
export const isRecordId = (id: string): boolean => RECORD.test(id)
export const hasControlCharacters = (text: string): boolean => CONTROL.test(text)

/** An id for a type of this name: `antrage` of "Anträge". A letter that has no like in ASCII is its code. */
export const typeIdOf = (name: string): string =>
  name
    .trim()
    .toLowerCase()
    .replace(/\s+/g, '_')
    .normalize('NFD')
    .replace(
      /[^a-z0-9_.-]/gu,
      (char) => (/[\p{L}\p{N}]/u.test(char) ? char.codePointAt(0)?.toString(16) : '') ?? '',
    )
    .replace(/^[_.-]+/, '')
    .slice(0, 64)

/** The production base of a preview base. A production base returns itself. */
export const productionOf = (baseId: string): string => baseId.split('--', 1)[0] ?? baseId

/** What the id of each preview of the base begins with. In a check of grants it means all of them. */
export const anyPreviewOf = (baseId: string): string => `${baseId}${ANY_PREVIEW}`
export const isAnyPreview = (baseId: string): boolean => baseId.endsWith(ANY_PREVIEW)
const ANY_PREVIEW = '--'

export const ID_RULES = {
  base: 'lower-case letters, digits and single hyphens, 1 to 48 characters, and none of the reserved names',
  preview: 'lower-case letters, digits and single hyphens, 1 to 16 characters',
  type: 'a letter or digit, then up to 63 of letters, digits, "_", "." and "-"',
  record: 'a letter or digit, then up to 127 of letters, digits, "_", ".", ":" and "-"',
} as const

const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/
/** Whether the text is a valid Idempotency-Key: visible ASCII, 1 to 255 characters. */
export const isIdempotencyKey = (key: string): boolean => IDEMPOTENCY_KEY.test(key)
