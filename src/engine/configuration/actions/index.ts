export { ACTION } from './action.ts'
export { secretTexts } from './secrets.ts'
export { ID_FIELDS, refIn, typesNamed } from './step-faults.ts'
export { mapTemplated, parseWhen, type When } from './when.ts'
