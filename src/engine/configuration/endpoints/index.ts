export { ENDPOINT } from './endpoint.ts'
export { endpointPolicy, type ResolvedEndpoint, servedEndpoint } from './resolve.ts'
export { TOOLSET } from './toolset.ts'
