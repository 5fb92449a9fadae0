/** Attaches contents to records: put_file with a record, and the tools of endpoints. */

import { trim } from '../../../contract/response-bodies.ts'
import { invalid } from '../../../foundation/errors.ts'
import { omitUndefined } from '../../../foundation/omit-undefined.ts'
import type { Context } from '../../../graphql/context.ts'
import { attach } from './operations.ts'

type Content = {
  base_id: string
  text?: string | undefined
  base64?: string | undefined
  content_type?: string | undefined
}
type Args = Content & { path: string; [other: string]: unknown }
type Named = Content & { record_type: string; id: string; filename: string }

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
  const { base_id, path: filename, ...content } = args
  const named = { record_type: record.slice(0, slash), id: record.slice(slash + 1), filename }
  return attachNamed({ ...content, base_id, ...named }, context)
}

/** The same for a record that is named by its type and id. */
export async function attachNamed(
  { base_id: base, record_type: recordType, id: recordId, filename, text, base64, content_type }: Named,
  context: Context,
): Promise<object> {
  const { made } = await attach(
    {
      ...{ base, filename, recordType, recordId },
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
