/** Refusals that only the admin API knows; all others are `S3Error`s. */
export const adminErrorCodes = {
  XMinioAdminNoSuchUser: 404,
  XMinioAdminNoSuchGroup: 404,
  XMinioAdminNoSuchPolicy: 404,
  XMinioAdminNoSuchAccessKey: 404,
  XMinioAdminAccessKeyInUse: 409,
  XMinioAdminInvalidAccessKey: 400,
  XMinioAdminInvalidSecretKey: 400,
  XMinioAdminInvalidArgument: 400,
  XMinioAdminGroupNotEmpty: 400,
  XMinioAdminPolicyInUse: 400,
  XMinioAdminPolicyChangeAlreadyApplied: 400,
  XMinioMalformedIAMPolicy: 400,
  XMinioAdminConfigIDPCfgNameAlreadyExists: 400,
  XMinioAdminConfigIDPCfgNameDoesNotExist: 400,
  XMinioAdminNoSuchConfigTarget: 400,
  XMinioAdminConfigEnvOverridden: 400,
  XMinioAdminConfigBadJSON: 400,
  XMinioConfigError: 400,
  SlowDown: 503,
  XMinioKMSKeyExists: 409,
  XMinioKMSInvalidKeyName: 400,
  XMinioKMSKeyNotFound: 404,
  KMSNotSupported: 501,
  KMSNotConfigured: 501,
  KMSNotPermitted: 403,
  KMSUnavailable: 503,
  XCofferInvalidRequest: 400,
  XCofferRefused: 409,
} as const;

export type AdminErrorCode = keyof typeof adminErrorCodes;

/** `message` is shown to the administrator: it says what to do. */
export class AdminError extends Error {
  override readonly name = 'AdminError';
  readonly code: AdminErrorCode;

  constructor(code: AdminErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  get status(): number {
    return adminErrorCodes[this.code];
  }
}
