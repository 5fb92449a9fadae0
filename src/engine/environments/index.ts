export { createPreview } from './create-preview.ts'
