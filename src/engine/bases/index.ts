export { type Base, baseNotFound, demandBase } from './base.ts'
export { type BaseInput, putBase } from './put.ts'
export { countBase, getBase, listBases } from './read.ts'
export { deleteBase } from './remove.ts'
