export { completeUpload } from './complete.ts'
export { listUploadParts, listUploads } from './list.ts'
export { abortUpload, putUploadPart, startUpload } from './parts.ts'
export type { Upload, UploadPart } from './upload.ts'
