/** Refusals that only the admin API knows; all others are `S3Error`s. */
export const adminErrorCodes = {
  XMinioKMSKeyExists: 409,
  XMinioKMSInvalidKeyName: 400,
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
