/** Faults of a mapping: its paths and its dates. */
import type { Mapping } from '../../../contract/inbound-webhook-shapes.ts'
import type { Detail } from '../../../foundation/errors.ts'
import { pointer } from '../../../json/parse.ts'
import { fieldFaults } from '../../schema/field-mapping/field-faults.ts'
import { pathFault } from '../../schema/json-path/json-path.ts'

export async function mappingFaults(mapping: Mapping | null): Promise<Detail[]> {
  if (mapping === null) return []
  const { external_id, external_source, data = {}, items, relationships = [] } = mapping
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
  for (const [n, { id, external_id: otherId, external_source: source }] of relationships.entries()) {
    const at = `/mapping/relationships/${n}`
    if ((id === undefined) === (otherId === undefined))
      faults.push({
        path: `${at}/external_id`,
        code: id === undefined ? 'required' : 'exclusive',
        message: 'Name the other record by the JSONPath of its id or of its external_id, one of them.',
      })
    if (source !== undefined && otherId === undefined)
      faults.push({
        path: `${at}/external_source`,
        code: 'required',
        message: 'external_source needs an external_id beside it.',
      })
    if (id !== undefined) faults.push(...itemFault(id, hasItems, `${at}/id`))
    if (otherId !== undefined) faults.push(...itemFault(otherId, hasItems, `${at}/external_id`))
    if (source?.startsWith('$')) faults.push(...itemFault(source, hasItems, `${at}/external_source`))
  }
  if (mapping.on_existing === 'keep' && external_id === undefined)
    faults.push({
      path: '/mapping/on_existing',
      code: 'required',
      message: 'on_existing needs an external_id: without one, each delivery makes a record.',
    })
  for (const [name, field] of Object.entries(data))
    faults.push(
      ...(await fieldFaults(field, `/mapping/data${pointer(name)}`, (path, at) =>
        itemFault(path, hasItems, at),
      )),
    )
  return faults
}

/** Paths start at an element of `items`. With `$$` they start at the payload. */
const itemFault = (text: string, hasItems: boolean, at: string): Detail[] =>
  pathFault(hasItems && text.startsWith('$$') ? text.slice(1) : text, at)
