import { FileStorage, FileTypeBody, FileTypePut } from '../contract/file-shapes.ts'
import { answerOf, crud, WarningsMeta } from './route/crud.ts'

/** REST routes of file types. */
export const fileTypes = crud('/:base_id/file-types', {
  tag: 'File types',
  label: 'A file type',
  body: FileTypeBody,
  sent: FileTypePut,
  answers: answerOf('FileType', FileTypeBody).extend({
    storage: FileStorage.required(),
    meta: WarningsMeta,
  }),
  confirm: "The type's id. Required if it has files.",
})
