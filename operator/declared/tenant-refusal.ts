/** An answer of a tenant's server that is not 2xx. `code` is the server's, or `HTTP 502` where a proxy answered. */
export class TenantRefusal extends Error {
  override readonly name: string = 'TenantRefusal';
  readonly code: string;
  readonly status: number;

  constructor(code: string, status: number, message: string) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

/** No answer came. */
export class TenantUnreachable extends Error {
  override readonly name = 'TenantUnreachable';
}

/** What the operator itself finds to be in the way; `reason` becomes that of the condition. */
export class DeclaredProblem extends Error {
  override readonly name = 'DeclaredProblem';
  readonly reason: string;

  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}
