import { selectErrorCodes } from './select-error-codes.ts';

/**
 * Codes of the S3 API with their status and default message.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
 */
const s3ErrorCodes = {
  AccessControlListNotSupported: [400, 'The bucket does not allow ACLs.'],
  AccessDenied: [403, 'Access Denied.'],
  AccessForbidden: [403, 'CORSResponse: CORS is not enabled for this bucket.'],
  AuthorizationHeaderMalformed: [400, 'The authorization header you provided is invalid.'],
  AuthorizationQueryParametersError: [400, 'The authorization query parameters that you provided are not valid.'],
  BadRequest: [400, 'The request is not valid.'],
  BadDigest: [400, 'The Content-MD5 you specified did not match what we received.'],
  BucketAlreadyExists: [409, 'The requested bucket name is not available.'],
  BucketAlreadyOwnedByYou: [409, 'A bucket with this name exists already, and you own it.'],
  BucketNotEmpty: [409, 'The bucket you tried to delete is not empty'],
  EntityTooLarge: [400, 'Your proposed upload exceeds the maximum allowed size'],
  EntityTooSmall: [400, 'Your proposed upload is smaller than the minimum allowed size'],
  ExpiredToken: [400, 'The provided token has expired.'],
  IdempotencyParameterMismatch: [
    400,
    'Parameters on this idempotent request are inconsistent with parameters used in previous request(s).',
  ],
  IdMismatch: [400, 'Document ID does not match the specified configuration ID.'],
  IllegalLocationConstraintException: [400, 'The specified location constraint is not valid for this endpoint.'],
  IncompleteBody: [400, 'You did not provide the number of bytes specified by the Content-Length HTTP header'],
  IncorrectNumberOfFilesInPostRequest: [400, 'POST requires exactly one file upload per request.'],
  InternalError: [500, 'We encountered an internal error. Please try again.'],
  InvalidAccessKeyId: [403, 'The AWS Access Key Id you provided does not exist in our records.'],
  InvalidArgument: [400, 'Invalid argument.'],
  InvalidBucketAclWithObjectOwnership: [
    400,
    "Bucket cannot have ACLs set with ObjectOwnership's BucketOwnerEnforced setting",
  ],
  InvalidBucketName: [400, 'The specified bucket is not valid.'],
  InvalidBucketOwnerAWSAccountID: [
    400,
    'The value of the expected bucket owner parameter must be an AWS Account ID. Please use a valid AWS Account ID and retry the request.',
  ],
  InvalidChunkSizeError: [403, 'Only the last chunk is allowed to have a size less than 8192 bytes'],
  InvalidConfigurationId: [400, 'The specified configuration id is invalid.'],
  InvalidDigest: [400, 'The Content-MD5 you specified was invalid.'],
  InvalidEncryptionAlgorithmError: [400, 'The encryption request that you specified is not valid.'],
  InvalidLocationConstraint: [400, 'The specified location-constraint is not valid'],
  InvalidPolicyDocument: [400, 'Invalid Policy.'],
  InvalidObjectState: [403, 'The operation is not valid for the current state of the object.'],
  InvalidPart: [
    400,
    "One or more of the specified parts could not be found.  The part may not have been uploaded, or the specified entity tag may not match the part's entity tag.",
  ],
  InvalidPartOrder: [400, 'The list of parts was not in ascending order. Parts must be ordered by part number.'],
  InvalidPartNumber: [416, 'The requested partnumber is not satisfiable'],
  InvalidRange: [416, 'The requested range is not satisfiable'],
  InvalidRedirectLocation: [400, "The website redirect location must have a prefix of 'http://' or 'https://' or '/'."],
  InvalidRequest: [400, 'Invalid request.'],
  InvalidRetentionPeriod: [400, 'The retention period that you specified is not valid.'],
  InvalidS3DestinationBucket: [400, 'Invalid bucket ARN.'],
  InvalidStorageClass: [400, 'The storage class you specified is not valid'],
  InvalidTargetBucketForLogging: [400, 'The target bucket for logging does not exist.'],
  InvalidTag: [400, 'The tag provided was not a valid tag.'],
  InvalidTokenId: [403, 'The security token included in the request is invalid.'],
  InvalidURI: [400, "Couldn't parse the specified URI."],
  KMSInvalidState: [400, 'The key of the key service is not the one that sealed data here.'],
  KMSNotFound: [400, 'Invalid keyId: the key does not exist in the key service.'],
  KeyTooLongError: [400, 'Your key is too long.'],
  MalformedPOSTRequest: [400, 'The body of your POST request is not well-formed multipart/form-data.'],
  MalformedACLError: [400, 'The XML you provided was not well-formed or did not validate against our published schema'],
  MalformedPolicy: [400, 'The policy document is not valid.'],
  MalformedTrailerError: [
    400,
    'The request contained trailing data that was not well-formed or did not conform to our published schema.',
  ],
  MalformedXML: [400, 'The XML you provided was not well-formed or did not validate against our published schema'],
  MaxPostPreDataLengthExceeded: [400, 'Your POST request fields preceeding the upload file was too large.'],
  MetadataTooLarge: [400, 'Your metadata headers exceed the maximum allowed metadata size'],
  IllegalVersioningConfigurationException: [400, 'The versioning configuration specified in the request is invalid.'],
  InvalidBucketState: [409, 'The request is not valid with the current state of the bucket.'],
  MethodNotAllowed: [405, 'The specified method is not allowed against this resource.'],
  MissingContentLength: [411, 'You must provide the Content-Length HTTP header.'],
  MissingRequestBodyError: [400, 'Request Body is empty'],
  MissingSecurityHeader: [400, 'Your request was missing a required header'],
  MissingFields: [400, 'Missing fields in request.'],
  NoLoggingStatusForKey: [400, 'There is no such thing as the ?logging sub-resource for a key'],
  NoSuchBucket: [404, 'The specified bucket does not exist'],
  NoSuchBucketPolicy: [404, 'The bucket policy does not exist'],
  NoSuchCORSConfiguration: [404, 'The CORS configuration does not exist'],
  NoSuchConfiguration: [404, 'The specified configuration does not exist.'],
  NoSuchKey: [404, 'The specified key does not exist.'],
  NoSuchLifecycleConfiguration: [404, 'The lifecycle configuration does not exist'],
  NoSuchObjectLockConfiguration: [404, 'The specified object does not have a ObjectLock configuration'],
  NoSuchPublicAccessBlockConfiguration: [404, 'The public access block configuration was not found'],
  NoSuchTagSet: [404, 'The TagSet does not exist'],
  NoSuchUpload: [
    404,
    'The specified multipart upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed.',
  ],
  NoSuchVersion: [404, 'The specified version does not exist.'],
  NoSuchWebsiteConfiguration: [404, 'The specified bucket does not have a website configuration'],
  NotImplemented: [501, 'A header you provided implies functionality that is not implemented'],
  NotModified: [304, 'Not Modified'],
  ObjectLockConfigurationNotFoundError: [404, 'Object Lock configuration does not exist for this bucket'],
  OperationAborted: [
    409,
    'A conflicting conditional operation is currently in progress against this resource. Please try again.',
  ],
  OwnershipControlsNotFoundError: [404, 'The bucket ownership controls were not found'],
  PreconditionFailed: [412, 'At least one of the pre-conditions you specified did not hold.'],
  RemoteDestinationNotFoundError: [404, 'The remote destination bucket does not exist'],
  RemoteTargetNotVersionedError: [400, 'The remote target does not have versioning enabled'],
  ReplicationDestinationMissingLockError: [
    400,
    'The replication destination bucket does not have object locking enabled',
  ],
  ReplicationConfigurationNotFoundError: [404, 'The replication configuration was not found'],
  RequestHeaderSectionTooLarge: [400, 'Your request header section exceeds the maximum allowed size.'],
  RequestTimeTooSkewed: [403, 'The difference between the request time and the current time is too large.'],
  RequestTimeout: [
    400,
    'Your socket connection to the server was not read from or written to within the timeout period.',
  ],
  RestoreAlreadyInProgress: [409, 'Object restore is already in progress'],
  ServerSideEncryptionConfigurationNotFoundError: [404, 'The server side encryption configuration was not found'],
  ServiceUnavailable: [503, 'The service is not ready. Please try again.'],
  SignatureDoesNotMatch: [
    403,
    'The request signature we calculated does not match the signature you provided. Check your key and signing method.',
  ],
  SlowDown: [503, 'Please reduce your request rate.'],
  TooManyConfigurations: [
    400,
    'You are attempting to create a new configuration but have already reached the 1,000-configuration limit.',
  ],
  UnexpectedContent: [400, 'This request does not support content'],
  UnresolvableGrantByEmailAddress: [
    400,
    'The e-mail address you provided does not match any account on record; name the canonical ID of the user.',
  ],
  UnsupportedNotification: [400, 'The destination is not supported for notifications.'],
  UnsupportedSignature: [400, 'The signature version of the request is not supported; use AWS Signature Version 4.'],
  XAmzContentChecksumMismatch: [400, 'The computed checksum does not match the one that you specified.'],
  XAmzContentSHA256Mismatch: [400, "The provided 'x-amz-content-sha256' header does not match what was computed."],
  XMinioAdminBucketRemoteAlreadyExists: [400, 'The remote target already exists'],
  XMinioAdminBucketQuotaExceeded: [400, 'Bucket quota exceeded'],
  XMinioAdminRemoteIdenticalToSource: [400, 'The remote target cannot be identical to source'],
  XMinioAdminRemoteRemoveDisallowed: [400, 'This ARN is in use by an existing configuration'],
  XMinioAdminRemoteTargetNotFoundError: [404, 'The remote target does not exist'],
  XMinioAdminReplicationBandwidthLimitError: [400, 'Bandwidth limit for remote target must be at least 100MBps'],
  XMinioAdminReplicationRemoteConnectionError: [503, 'Remote service connection error'],
  XMinioAdminTierAlreadyExists: [409, 'Specified remote tier already exists'],
  XMinioAdminTierBackendInUse: [409, 'Specified remote tier is already in use'],
  XMinioAdminTierBackendNotEmpty: [400, 'Specified remote backend is not empty'],
  XMinioAdminTierBucketNotFound: [400, 'Remote tier bucket not found'],
  XMinioAdminTierInsufficientPermissions: [400, 'The access key may not do all that a tier needs'],
  XMinioAdminTierInvalidConfig: [400, 'Unable to setup remote tier, check tier configuration'],
  XMinioAdminTierInvalidCredentials: [400, 'Invalid remote tier credentials'],
  XMinioAdminTierNameNotUpperCase: [400, 'Tier name must be in uppercase'],
  XMinioAdminTierNotFound: [404, 'Specified remote tier was not found'],
  XMinioAdminTierReserved: [400, 'Cannot use reserved tier name'],
  XMinioAdminTierTypeUnsupported: [400, 'Unsupported tier type'],
  // As MinIO answers: clients would repeat a 503 for minutes.
  XMinioBackendDown: [400, 'Remote backend is unreachable'],
  XMinioReplicationNoExistingObjects: [400, 'No matching ExistingObjects rule enabled'],
  XMinioStorageFull: [
    507,
    'The storage backend has reached its minimum free space threshold. Delete objects to go on.',
  ],
  ...selectErrorCodes,
} as const satisfies Record<string, readonly [status: number, message: string]>;

export type S3ErrorCode = keyof typeof s3ErrorCodes;

/** The code on the wire, if it is not an identifier or differs from our name. */
const wireCodes: Partial<Record<S3ErrorCode, string>> = {
  KMSInvalidState: 'KMS.KMSInvalidStateException',
  KMSNotFound: 'KMS.NotFoundException',
};

/**
 * An error of the S3 protocol. The caller sees `message`: it names the value, and never a secret. It is not a `RequestError`, since the code
 * alone fixes its status, and its details become elements of the XML document.
 */
export class S3Error extends Error {
  override readonly name = 'S3Error';
  readonly code: S3ErrorCode;
  /** Further elements of the XML response, e.g. `BucketName`, `Key`. */
  readonly details: Readonly<Record<string, string>>;
  /** Further headers of the answer, e.g. `x-amz-delete-marker`. */
  readonly headers: Readonly<Record<string, string>>;

  /**
   * True where errors of callers (a status below 500) have a stack. A server turns it off: no log has that stack, and it costs more than the
   * rest of the answer.
   */
  static tracesCallers = true;

  constructor(
    code: S3ErrorCode,
    message: string = s3ErrorCodes[code][1],
    options: ErrorOptions & { details?: Record<string, string>; headers?: Record<string, string> } = {},
  ) {
    const limit = Error.stackTraceLimit;
    if (!S3Error.tracesCallers && s3ErrorCodes[code][0] < 500) Error.stackTraceLimit = 0;
    super(message, options);
    Error.stackTraceLimit = limit;
    this.code = code;
    this.details = options.details ?? {};
    this.headers = options.headers ?? {};
  }

  get status(): number {
    return s3ErrorCodes[this.code][0];
  }

  get wireCode(): string {
    return wireCodes[this.code] ?? this.code;
  }
}
