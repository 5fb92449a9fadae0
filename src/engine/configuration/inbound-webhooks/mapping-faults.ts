/** Faults of a mapping: its paths and its dates. */
import type { Mapping } from '../../../contract/inbound-webhook-shapes.ts'
import type { Detail } from '../../../foundation/errors.ts'
import { pointer } from '../../../json/parse.ts'
import { pathFault } from '../../json-path/json-path.ts'

export async function mappingFaults(mapping: Mapping | null): Promise<Detail[]> {
  if (mapping === null) return []
  const { external_id, external_source, data = {}, items } = mapping
  const hasItems = items !== undefined
  // Loaded when a mapping needs it.
  const { isDateFormat } = await import('./dates.ts')
  const faults: Detail[] = []
  if (external_source !== undefined && external_id === undefined)
    faults.push({
      path: '/mapping/external_source',
      code: 'required',
      message: 'external_source needs an external_id beside it.',
    })
  if (items !== undefined) faults.push(...pathFault(items, '/mapping/items'))
  if (external_id !== undefined) faults.push(...itemFault(external_id, hasItems, '/mapping/external_id'))
  if (external_source?.startsWith('$'))
    faults.push(...itemFault(external_source, hasItems, '/mapping/external_source'))
  for (const [name, field] of Object.entries(data)) {
    const at = `/mapping/data${pointer(name)}`
    const isPlain = typeof field === 'string'
    faults.push(...itemFault(isPlain ? field : field.path, hasItems, isPlain ? at : `${at}/path`))
    if (!isPlain && field.date_format !== undefined && !isDateFormat(field.date_format))
      faults.push({
        path: `${at}/date_format`,
        code: 'invalid_date_format',
        message: 'Write it as a Unicode pattern such as "dd.MM.yyyy HH:mm", or "iso", "unix" or "unix_ms".',
        received: field.date_format,
      })
    if (!isPlain && field.date_format !== undefined && field.values !== undefined)
      faults.push({
        path: `${at}/values`,
        code: 'exclusive',
        message: 'A field has values or date_format. Leave one of them out.',
      })
  }
  return faults
}

/** `$$` stands for the payload where paths start at an element. */
const itemFault = (text: string, hasItems: boolean, at: string): Detail[] =>
  pathFault(hasItems && text.startsWith('$$') ? text.slice(1) : text, at)
