/** Reads forms (multipart/form-data) with one file, whose content streams to where it is stored. */
import type { Readable } from 'node:stream'
import { Busboy, type BusboyInstance } from '@fastify/busboy'
import type { FastifyRequest } from 'fastify'
import { DomainError, invalid } from '../foundation/errors.ts'
import { inSlices } from '../foundation/slices.ts'

type FormFile<Stored> = { filename: string; contentType: string; stored: Stored }

/**
 * Reads the file of the field `file`.
 * @param store consumes the content of the file
 * @throws VALIDATION_ERROR for any other part, no file, or a malformed form
 */
export function readFormFile<Stored>(
  { raw, headers }: FastifyRequest,
  store: (content: Readable) => Promise<Stored>,
): Promise<FormFile<Stored>> {
  return new Promise((resolve, reject) => {
    let file: Promise<FormFile<Stored>> | undefined
    let open: Readable | undefined
    const body = inSlices(raw.iterator({ destroyOnReturn: false }))
    const fail = (thrown: unknown) => {
      body.destroy()
      // The form does not end its file. What stores the content waits for more of it, with a file that it has opened.
      open?.destroy(new Error('The form failed.'))
      reject(thrown instanceof DomainError ? thrown : malformed(thrown))
    }
    let form: BusboyInstance
    try {
      form = new Busboy({
        headers: { ...headers, 'content-type': headers['content-type'] ?? '' },
        preservePath: true,
        limits: {
          files: 2,
          fields: 1,
          parts: 2,
          fieldSize: 1024,
          fieldNameSize: 100,
          headerPairs: 20,
          headerSize: 16 * 1024,
        },
      })
    } catch (thrown) {
      fail(thrown)
      return
    }
    // The type says otherwise, but a part can have no name.
    form.on('file', (name: string | undefined, content, filename, _encoding, contentType) => {
      // The stream fails with the form, which rejects already.
      content.on('error', () => {})
      if (body.destroyed || name !== 'file' || file !== undefined) {
        content.resume()
        return fail(unexpected(name))
      }
      open = content
      file = store(content).then((stored) => ({ filename: filename ?? '', contentType, stored }))
      file.catch(fail)
    })
    form.on('field', (name: string | undefined) => fail(unexpected(name)))
    form.on('partsLimit', () => fail(unexpected()))
    form.on('error', fail)
    form.on('finish', () => (file === undefined ? fail(missing()) : file.then(resolve, fail)))
    // Also if the client disconnects.
    body.once('error', fail)
    body.pipe(form)
  })
}

const unexpected = (name = ''): DomainError =>
  invalid({
    path: `/${name.slice(0, 64)}`,
    code: 'unknown_field',
    message: 'The form has one part: a file in the field "file".',
    received: name.slice(0, 64),
    allowed: ['file'],
  })

const missing = (): DomainError =>
  invalid({
    path: '/file',
    code: 'required',
    message: 'The form has no file. Send it in the field "file", with a filename.',
  })

const malformed = (cause: unknown): DomainError =>
  new DomainError('VALIDATION_ERROR', 'The body is not a whole form.', {
    cause,
    details: [
      { path: '', code: 'malformed_form', message: 'Send multipart/form-data with a boundary, to its end.' },
    ],
  })
