import { ENDPOINT } from './endpoints/endpoint.ts'
import { TOOLSET } from './endpoints/toolset.ts'
import type { Kind } from './lifecycle/kind.ts'
import { RECORD_TYPE } from './record-types/record-type.ts'
import { RELATIONSHIP_TYPE } from './relationship-types/relationship-type.ts'

/** Every kind of configuration; what a kind names stands before it. */
export const KINDS: readonly Kind[] = [RECORD_TYPE, RELATIONSHIP_TYPE, TOOLSET, ENDPOINT]
