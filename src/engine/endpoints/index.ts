export { ENDPOINT } from './endpoint.ts'
export { endpointReach, type Served, servedEndpoint } from './served.ts'
export { TOOLSET } from './toolset.ts'
