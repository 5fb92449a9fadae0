/** Http steps: the target and the headers, as far as they are written out. */
import type { Step } from '../../../contract/action-shapes.ts'
import { HEADER_VALUE, headerNameFault } from '../../../contract/sent-headers.ts'
import type { PrivateHosts } from '../../../foundation/egress/allowed-addresses.ts'
import { urlFault } from '../../../foundation/egress/url-fault.ts'
import type { Detail } from '../../../foundation/errors.ts'
import { isObject } from '../../../foundation/is-object.ts'
import { pointer } from '../../../json/parse.ts'
import { hasTemplate } from '../../schema/templates/parse.ts'
import { writtenOrigin } from '../../schema/templates/written-origin.ts'
import { secretTexts } from './secrets.ts'

export function httpFaults(step: Step, n: number, targets: PrivateHosts): Detail[] {
  const { url, headers } = step
  return [
    ...(typeof url === 'string'
      ? urlFaults(url, `/steps/${n}/url`, secretTexts(step).length > 0, targets)
      : []),
    ...(isObject(headers) ? headerFaults(headers, `/steps/${n}/headers`) : []),
  ]
}

function urlFaults(url: string, path: string, usesSecrets: boolean, targets: PrivateHosts): Detail[] {
  if (!hasTemplate(url)) {
    const fault = urlFault(url, targets)
    return fault ? [{ path, ...fault }] : []
  }
  const origin = writtenOrigin(url)
  if (origin !== null) {
    const fault = urlFault(origin, targets)
    return fault ? [{ path, ...fault }] : []
  }
  const isWhole = /^\{\{[^{}]*\}\}$/.test(url)
  if (isWhole && !usesSecrets) return []
  return [
    {
      path,
      code: 'open_host',
      message: usesSecrets
        ? 'A step with a secret must name the host of its url without templates. Otherwise an input could send the secret to another host.'
        : 'Write scheme and host without templates, such as "https://example.com/{{input.id}}", or let the url be one template.',
      received: url.slice(0, 200),
    },
  ]
}

function headerFaults(headers: Record<string, unknown>, at: string): Detail[] {
  const names = Object.keys(headers)
  return names.flatMap((name, i): Detail[] => {
    const path = `${at}${pointer(name)}`
    const value = headers[name]
    const fault = headerNameFault(names, i, { sender: 'request' })
    if (fault) return [{ path, ...fault }]
    if (typeof value === 'string' && !hasTemplate(value) && !HEADER_VALUE.test(value))
      return [{ path, code: 'invalid_header', message: 'A header has visible ASCII characters and spaces.' }]
    return []
  })
}
