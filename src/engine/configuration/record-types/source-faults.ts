/** Faults of the external sources of a record type. */
import { isDeepStrictEqual } from 'node:util'
import type { FieldMapping } from '../../../contract/mapping-shapes.ts'
import { headerNameFault } from '../../../contract/outgoing-headers.ts'
import {
  SOURCE_OPERATIONS,
  type Source,
  type SourceOperation,
  URL_VALUES,
} from '../../../contract/source-shapes.ts'
import { nearest } from '../../../contract/suggest.ts'
import { urlFault } from '../../../foundation/egress/url-fault.ts'
import type { Detail } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { checkJson, pointer } from '../../../json/parse.ts'
import { fieldFaults } from '../../schema/field-mapping/map-fields.ts'
import { compileJsonPath, pathFault } from '../../schema/json-path/json-path.ts'
import { fillUrl, namesIn, writtenOrigin } from '../../schema/templates/urls.ts'
import { requirePermission } from '../../storage/access/access.ts'
import type { Loaded } from '../lifecycle/kind.ts'
import { mentionsSecret, referenceFaults, secretsIn } from '../vault-secrets/index.ts'

/**
 * The faults of sources. One that is new or differs needs `manage` on the whole base, because it sends secrets of the
 * base to a url.
 * @throws FORBIDDEN
 */
export async function sourceFaults(
  { scope, baseId }: Loaded,
  before: readonly Source[],
  sources: readonly Source[],
): Promise<Detail[]> {
  const named = sources.flatMap((_, n) => nameFaults(sources, n))
  const changed = sources.filter((source) => !before.some((other) => isDeepStrictEqual(source, other)))
  // A copy of a source that exists is no new one, and has its name.
  if (changed.length === 0) return named
  requirePermission(scope.access, 'manage', baseId, '*')
  checkJson(sources, '/sources')
  if (JSON.stringify(sources).length > LIMITS.sourceChars) return [tooLarge]
  const faults = await Promise.all(
    sources.map(async (source, n) => [
      ...operationFaults(source, n, scope.egress.privateHosts),
      ...authFaults(source, `/sources/${n}/auth`),
      ...(await mappingFaults(source, `/sources/${n}/field_mapping`)),
    ]),
  )
  const texts = sources.flatMap(({ auth }, n) =>
    auth ? [{ path: `/sources/${n}/auth/value_template`, text: auth.value_template }] : [],
  )
  return [...named, ...faults.flat(), ...(await referenceFaults(scope.db, baseId, texts))]
}

const tooLarge: Detail = {
  path: '/sources',
  code: 'too_large',
  message: `The sources of a type can have at most ${LIMITS.sourceChars} characters as JSON. Shorten or remove some.`,
  expected: LIMITS.sourceChars,
}

function nameFaults(sources: readonly Source[], n: number): Detail[] {
  const path = `/sources/${n}/name`
  const name = sources[n]?.name ?? ''
  if (name === 'default')
    return [
      {
        path,
        code: 'reserved_name',
        message: '"default" is the external_source of records that name none. Send another name.',
      },
    ]
  if (sources.findIndex((source) => source.name === name) === n) return []
  return [{ path, code: 'duplicate', message: `There are two sources "${name}". Send another name.` }]
}

type Hosts = Parameters<typeof urlFault>[1]

function operationFaults(source: Source, n: number, hosts: Hosts): Detail[] {
  const at = `/sources/${n}`
  const known = SOURCE_OPERATIONS.filter((operation) => source[operation] !== undefined)
  if (known.length === 0)
    return [
      {
        path: at,
        code: 'required',
        message: 'A source needs at least one of get, list, create and update.',
        allowed: SOURCE_OPERATIONS,
      },
    ]
  const needsId = (['list', 'create'] as const).find((operation) => source[operation] !== undefined)
  const unnamed: Detail[] =
    needsId && source.field_mapping?.to_plinth?.['external_id'] === undefined
      ? [
          {
            path: `${at}/field_mapping/to_plinth/external_id`,
            code: 'required',
            message: `With ${needsId}, external_id is required: the JSONPath of the id in a record of the source, such as "$.id".`,
          },
        ]
      : []
  return [
    ...unnamed,
    ...known.flatMap((operation) => requestFaults(source, operation, `${at}/${operation}`, hosts)),
  ]
}

function requestFaults(source: Source, operation: SourceOperation, at: string, hosts: Hosts): Detail[] {
  const { url, response_path } = source[operation] ?? { url: '' }
  const total = operation === 'list' ? source.list?.total_path : undefined
  return [
    ...urlFaults(url, operation, `${at}/url`, hosts),
    ...(response_path === undefined ? [] : pathFault(response_path, `${at}/response_path`)),
    ...(total === undefined ? [] : pathFault(total, `${at}/total_path`)),
  ]
}

function urlFaults(url: string, operation: SourceOperation, path: string, hosts: Hosts): Detail[] {
  if (mentionsSecret(url))
    return [
      {
        path,
        code: 'secret_in_url',
        message: 'The url of a source cannot have a secret: it is shown and logged. Send it in auth.',
      },
    ]
  const allowed = URL_VALUES[operation]
  const names = namesIn(url)
  const unknown = names.find((name) => !allowed.includes(name))
  if (unknown !== undefined) {
    const close = nearest(unknown, allowed)
    return [
      {
        path,
        code: 'unknown_template',
        message: `The url of ${operation} cannot have {{${unknown.slice(0, 64)}}}.`,
        allowed: allowed.map((name) => `{{${name}}}`),
        ...(close && { hint: `{{${close}}}` }),
      },
    ]
  }
  const fault = urlFault(fillUrl(url, { external_id: 'a', limit: 1, offset: 0, page: 1 }), hosts)
  if (writtenOrigin(url) === null) return [{ path, ...(fault ?? openHost) }]
  if ((operation === 'get' || operation === 'update') && names.length === 0)
    return [
      {
        path,
        code: 'required',
        message: `The url of ${operation} must have {{external_id}}, the id of the record. Add it.`,
      },
    ]
  const pages = ['offset', 'page'].filter((name) => names.includes(name))
  if (pages.length === 2)
    return [
      {
        path,
        code: 'exclusive',
        message: 'A url cannot have both {{offset}} and {{page}}. Leave one of them out.',
      },
    ]
  if (pages.length === 1 && !names.includes('limit'))
    return [
      { path, code: 'required', message: `{{${pages[0]}}} needs {{limit}} beside it: the size of a page.` },
    ]
  return fault ? [{ path, ...fault }] : []
}

const openHost = {
  code: 'invalid_url',
  message:
    'The host of a url cannot have a template. Write scheme and host out, such as "https://api.example.com/{{external_id}}".',
}

const OF_SOURCE = /^(content-type|user-agent|accept)$/i

function authFaults({ auth }: Source, at: string): Detail[] {
  if (!auth) return []
  const { header, value_template: value } = auth
  const fault = headerNameFault([header], 0, { sender: 'request', own: OF_SOURCE })
  if (fault) return [{ path: `${at}/header`, ...fault }]
  if (secretsIn(value).length > 0 || mentionsSecret(value)) return []
  return [
    {
      path: `${at}/value_template`,
      code: 'secret_required',
      message:
        'A credential is a secret of the vault, because the definition is shown. Put it there, and name it here.',
      hint: 'Bearer {{secret:NAME}}',
    },
  ]
}

async function mappingFaults({ field_mapping: mapping = {} }: Source, at: string): Promise<Detail[]> {
  const { external_id: idField, ...fields } = mapping.to_plinth ?? {}
  const read = Object.entries(fields)
  const faults = await Promise.all(
    read.map(([name, field]) => fieldFaults(field, `${at}/to_plinth${pointer(name)}`, pathFault)),
  )
  const sent = Object.entries(mapping.to_external ?? {})
  return [
    ...faults.flat(),
    ...(idField === undefined ? [] : idFaults(idField, `${at}/to_plinth/external_id`)),
    ...sent.flatMap(([name, field]) =>
      sentFaults(typeof field === 'string' ? field : field.path, `${at}/to_external${pointer(name)}`),
    ),
  ]
}

function idFaults(field: FieldMapping, path: string): Detail[] {
  if (typeof field === 'string') return pathFault(field, path)
  const message =
    'external_id must be a JSONPath, without values or a date_format. Send the path as a string.'
  return [{ path, code: 'type', message, expected: 'string', hint: field.path }]
}

/** A field is sent under a name, or at a path of names. */
function sentFaults(text: string, path: string): Detail[] {
  if (!text.startsWith('$')) return []
  const faults = pathFault(text, path)
  if (faults.length > 0 || compileJsonPath(text).names) return faults
  return [
    {
      path,
      code: 'invalid_json_path',
      message: 'A path of to_external can have names only. Write it as "$.properties.email".',
      received: text.slice(0, 200),
    },
  ]
}
