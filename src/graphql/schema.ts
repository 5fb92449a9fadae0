import './scalars.ts'
import './bases.ts'
import './record-types.ts'
import './records.ts'
import './tokens.ts'
import './providers.ts'
import { builder } from './builder.ts'

export const schema = builder.toSchema()
