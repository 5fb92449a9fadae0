export type { DeletionPlan } from './plan.ts'
export { planned } from './planned.ts'
export { type Counted, takeCounts, takeLink, takeNamed, takeRecords } from './taken.ts'
export { tellOfBases } from './tell-bases.ts'
