import { invalid } from '../../foundation/errors.ts'

/**
 * Refuses arguments that do nothing beside the others of a call.
 * @throws VALIDATION_ERROR if one of them is given
 */
export function refuseOthers(others: Readonly<Record<string, unknown>>, reason: string): void {
  const [name] = Object.entries(others).find(([, value]) => value !== undefined) ?? []
  if (name === undefined) return
  throw invalid({ path: `/${name}`, code: 'exclusive', message: `${reason} Leave ${name} out.` })
}
