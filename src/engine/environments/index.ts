export { type ConfigDiff, diffConfig, getConfig, putConfig } from './config.ts'
export { createPreview } from './create-preview.ts'
