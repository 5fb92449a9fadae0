import type { FieldPath } from '../filter/field.ts'

/** The path as filters write it: `data.a.b`, `data.list[].c`, `data["odd.key"]`. */
export const fieldName = (path: FieldPath): string =>
  `data${path.map((segment) => (segment === null ? '[]' : typeof segment === 'number' ? `[${segment}]` : nameSegment(segment))).join('')}`

const nameSegment = (name: string): string =>
  /^[^.[\]"\s,]+$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`
