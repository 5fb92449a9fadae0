/** Faults of a mapping: its paths and its dates. */
import type { Mapping } from '../../../contract/inbound-webhook-shapes.ts'
import type { Detail } from '../../../foundation/errors.ts'
import { pointer } from '../../../json/parse.ts'
import { pathFault } from '../../json-path/json-path.ts'

type Field = NonNullable<Mapping['data']>[string]

export async function mappingFaults(mapping: Mapping | null): Promise<Detail[]> {
  if (mapping === null) return []
  const { external_id, external_source, data = {}, items } = mapping
  const hasItems = items !== undefined
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
  for (const [name, field] of Object.entries(data))
    faults.push(...(await fieldFaults(field, hasItems, `/mapping/data${pointer(name)}`)))
  return faults
}

async function fieldFaults(field: Field, hasItems: boolean, at: string): Promise<Detail[]> {
  if (typeof field === 'string') return itemFault(field, hasItems, at)
  const { path, date_format: dateFormat, values } = field
  const faults = itemFault(path, hasItems, `${at}/path`)
  if (dateFormat === undefined) return faults
  // The library of dates is loaded when a mapping first needs it.
  const { isDateFormat } = await import('./dates.ts')
  if (!isDateFormat(dateFormat))
    faults.push({
      path: `${at}/date_format`,
      code: 'invalid_date_format',
      message: 'Write it as a Unicode pattern such as "dd.MM.yyyy HH:mm", or "iso", "unix" or "unix_ms".',
      received: dateFormat,
    })
  if (values !== undefined)
    faults.push({
      path: `${at}/values`,
      code: 'exclusive',
      message: 'A field has values or date_format. Leave one of them out.',
    })
  return faults
}

/** Paths start at an element of `items`. With `$$` they start at the payload. */
const itemFault = (text: string, hasItems: boolean, at: string): Detail[] =>
  pathFault(hasItems && text.startsWith('$$') ? text.slice(1) : text, at)
