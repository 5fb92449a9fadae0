export { openJobs } from './runner.ts'
