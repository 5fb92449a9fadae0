import { ENDPOINT } from './endpoints/endpoint.ts'
import { TOOLSET } from './endpoints/toolset.ts'
import type { Kind } from './lifecycle/kind.ts'
import { RELATIONSHIP_TYPE } from './relationship-types/relationship-type.ts'

/** Every kind of configuration; what a kind names stands before it. */
export const KINDS: readonly Kind[] = [RELATIONSHIP_TYPE, TOOLSET, ENDPOINT]
