/** put_file with a record: attaches the file to it, under the filename in `path`. */

import { trim } from '../../../contract/response-bodies.ts'
import { invalid } from '../../../foundation/errors.ts'
import { omitUndefined } from '../../../foundation/omit-undefined.ts'
import type { Context } from '../../../graphql/context.ts'
import { attach } from './operations.ts'

type Args = {
  base_id: string
  path: string
  text?: string | undefined
  base64?: string | undefined
  content_type?: string | undefined
  [other: string]: unknown
}

/** Arguments of files that attachments do not have. */
const OF_FILES = ['file_type', 'metadata', 'label', 'expected_version']

/**
 * Attaches a content to the record `<type>/<id>`. Without a content the answer has a URL for the upload.
 * @throws VALIDATION_ERROR; FORBIDDEN; NOT_FOUND
 */
export async function attachTo(record: string, args: Args, context: Context): Promise<object> {
  const slash = record.indexOf('/')
  if (slash < 1 || slash === record.length - 1)
    throw refused('record', 'malformed', 'record must name a record: "<type>/<id>", such as "deal/d1".')
  const foreign = OF_FILES.find((name) => args[name] !== undefined)
  if (foreign !== undefined)
    throw refused(foreign, 'exclusive', `An attachment of a record has no ${foreign}. Leave it out.`)
  const { base_id: base, path: filename, text, base64, content_type } = args
  const { made } = await attach(
    {
      ...{ base, filename, recordType: record.slice(0, slash), recordId: record.slice(slash + 1) },
      ...omitUndefined({
        content: text,
        contentBase64: base64,
        contentType: content_type ?? (text === undefined ? undefined : 'text/plain'),
      }),
    },
    context,
  )
  const { upload_url, expires_at, ...attachment } = made
  return trim(upload_url === null ? attachment : made)
}

const refused = (argument: string, code: string, message: string) =>
  invalid({ path: `/${argument}`, code, message })
