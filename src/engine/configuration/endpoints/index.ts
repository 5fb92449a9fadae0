export { ENDPOINT } from './endpoint.ts'
export { enterEndpoint } from './enter.ts'
export { actionOfTool, endpointPolicy, type ResolvedEndpoint, servedEndpoint } from './resolve.ts'
export { TOOLSET } from './toolset.ts'
