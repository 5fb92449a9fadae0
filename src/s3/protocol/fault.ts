/** The errors of S3: their codes, their statuses, and which of them each failure of Plinth is. */
import { DomainError, type FailureCode } from '../../foundation/errors.ts'

const STATUS = {
  AccessDenied: 403,
  AuthorizationHeaderMalformed: 400,
  AuthorizationQueryParametersError: 400,
  BadDigest: 400,
  BucketAlreadyOwnedByYou: 409,
  EntityTooLarge: 400,
  EntityTooSmall: 400,
  ExpiredToken: 400,
  IncompleteBody: 400,
  InternalError: 500,
  InvalidAccessKeyId: 403,
  InvalidArgument: 400,
  InvalidDigest: 400,
  InvalidPart: 400,
  InvalidPartOrder: 400,
  InvalidRange: 416,
  InvalidRequest: 400,
  InvalidTokenId: 403,
  InvalidURI: 400,
  MalformedXML: 400,
  MethodNotAllowed: 405,
  MissingContentLength: 411,
  NoSuchBucket: 404,
  NoSuchKey: 404,
  NoSuchUpload: 404,
  NotImplemented: 501,
  OperationAborted: 409,
  PreconditionFailed: 412,
  RequestTimeTooSkewed: 403,
  ServiceUnavailable: 503,
  SignatureDoesNotMatch: 403,
  SlowDown: 503,
  XAmzContentSHA256Mismatch: 400,
} as const
export type S3Code = keyof typeof STATUS

const KINDS: Readonly<Record<number, FailureCode>> = {
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  409: 'CONFLICT',
  412: 'CONFLICT',
  500: 'INTERNAL_ERROR',
  503: 'RATE_LIMITED',
}

/** A failure in the terms of S3. */
export class S3Fault extends DomainError {
  readonly s3: S3Code
  readonly status: number

  constructor(s3: S3Code, message: string, cause?: unknown) {
    const status = STATUS[s3]
    super(KINDS[status] ?? 'VALIDATION_ERROR', message, { cause })
    this.s3 = s3
    this.status = status
  }
}

/** By the code of the first detail. */
const OF_DETAIL: Readonly<Record<string, S3Code>> = {
  base_not_found: 'NoSuchBucket',
  body_too_large: 'EntityTooLarge',
  checksum_mismatch: 'BadDigest',
  content_mismatch: 'PreconditionFailed',
  digest_mismatch: 'XAmzContentSHA256Mismatch',
  exists: 'PreconditionFailed',
  immutable: 'AccessDenied',
  part_not_found: 'InvalidPart',
  part_order: 'InvalidPartOrder',
  part_too_small: 'EntityTooSmall',
  range_not_satisfiable: 'InvalidRange',
  size_mismatch: 'InvalidRequest',
  too_large: 'EntityTooLarge',
  too_many: 'ServiceUnavailable',
  upload_aborted: 'IncompleteBody',
  upload_not_found: 'NoSuchUpload',
}
const OF_CODE: Readonly<Record<FailureCode, S3Code>> = {
  VALIDATION_ERROR: 'InvalidArgument',
  UNAUTHORIZED: 'AccessDenied',
  FORBIDDEN: 'AccessDenied',
  NOT_FOUND: 'NoSuchKey',
  CONFLICT: 'OperationAborted',
  RATE_LIMITED: 'SlowDown',
  INTERNAL_ERROR: 'InternalError',
}

/** For failures whose message is about tools. */
const MESSAGES: Readonly<Record<string, string>> = {
  out_of_reach: 'The credential, or its token, has no access to the resource.',
}

/** The fault that a failure is. A body that was refused while it was stored is the cause of that failure. */
export function faultOf(error: DomainError): S3Fault {
  if (error instanceof S3Fault) return error
  if (error.cause instanceof DomainError) return faultOf(error.cause)
  const code = error.details[0]?.code ?? ''
  return new S3Fault(OF_DETAIL[code] ?? OF_CODE[error.code], MESSAGES[code] ?? error.message)
}
