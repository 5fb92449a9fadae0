export { ENDPOINT } from './endpoint.ts'
export { enterEndpoint, onEndpointChange } from './endpoint-scope.ts'
export { actionOfTool, endpointPolicy, type ResolvedEndpoint, servedEndpoint } from './resolve.ts'
export { TOOLSET } from './toolset.ts'
