export { rightsOfAction } from './rights.ts'
export { type RunAnswer, runAction, withRun } from './run-action.ts'
export { type ActionRun, getRun, listRuns } from './run-log.ts'
