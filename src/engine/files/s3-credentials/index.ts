export { createS3Credential } from './create.ts'
export { REGION, type S3Credential } from './credential.ts'
export {
  type CredentialSession,
  findCredentialSession,
  sweepS3Credentials,
  withCredential,
} from './credential-session.ts'
export { deleteS3Credential, listS3Credentials } from './list.ts'
