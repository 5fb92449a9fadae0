export { FILE_TYPE, type Storage } from './file-type.ts'
export { seesFileTypes } from './sees-file-types.ts'
