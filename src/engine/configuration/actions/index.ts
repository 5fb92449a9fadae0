export { ACTION } from './action.ts'
export { secretTexts } from './secrets.ts'
export { ID_FIELDS, refIn } from './step-faults.ts'
