export { ENDPOINT } from './endpoint.ts'
export { endpointPolicy, type Served, servedEndpoint } from './resolve.ts'
export { TOOLSET } from './toolset.ts'
