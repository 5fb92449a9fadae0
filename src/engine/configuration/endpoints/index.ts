export { ENDPOINT } from './endpoint.ts'
export { endpointReach, type Served, servedEndpoint } from './resolve.ts'
export { TOOLSET } from './toolset.ts'
