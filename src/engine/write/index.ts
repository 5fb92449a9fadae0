export type { DeletionPlan } from './deletion-plan.ts'
export { type Counted, takeCounts, takeLink, takeNamed, takeRecords } from './deletion-summary.ts'
export { planned } from './run-planned.ts'
export { tellOfBases } from './summarize-bases.ts'
