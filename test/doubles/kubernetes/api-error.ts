/** An answer other than success, as the Status object that the real server gives. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: number;
  readonly reason: string;
  readonly retryAfterSeconds: number | undefined;
  readonly causes: readonly Cause[];

  constructor(
    code: number,
    reason: string,
    message: string,
    causes: readonly Cause[] = [],
    retryAfterSeconds?: number,
  ) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.causes = causes;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  static notFound(resource: string, name: string): ApiError {
    return new ApiError(404, 'NotFound', `${resource} "${name}" not found`);
  }

  static alreadyExists(resource: string, name: string): ApiError {
    return new ApiError(409, 'AlreadyExists', `${resource} "${name}" already exists`);
  }

  static conflict(resource: string, name: string, why: string): ApiError {
    return new ApiError(409, 'Conflict', `Operation cannot be fulfilled on ${resource} "${name}": ${why}`);
  }

  static invalid(kind: string, name: string, causes: readonly Cause[]): ApiError {
    const all = causes.map(({ field, message }) => `${field}: ${message}`).join(', ');
    return new ApiError(422, 'Invalid', `${kind} "${name}" is invalid: ${all}`, causes);
  }

  static badRequest(message: string): ApiError {
    return new ApiError(400, 'BadRequest', message);
  }

  static expired(message: string): ApiError {
    return new ApiError(410, 'Expired', message);
  }

  get status(): object {
    const details = {
      ...(this.causes.length > 0
        ? { causes: this.causes.map((cause) => ({ reason: 'FieldValueInvalid', ...cause })) }
        : {}),
      ...(this.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: this.retryAfterSeconds }),
    };
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: this.message,
      reason: this.reason,
      details,
      code: this.code,
    };
  }
}

export interface Cause {
  /** `FieldValueInvalid` without it. */
  readonly reason?: string;
  readonly field: string;
  readonly message: string;
}
