import './scalars.ts'
import './bases.ts'
import './record-types.ts'
import './profile.ts'
import './records.ts'
import './aggregates.ts'
import './cross-base.ts'
import './sql.ts'
import './tokens.ts'
import './providers.ts'
import { builder } from './builder.ts'

export const schema = builder.toSchema()
