/**
 * An error with a stable code: conditions, logs and callers compare it, and tests do. The message is for people and may change. Each class
 * of errors names its codes.
 */
export abstract class CodedError<Code extends string = string> extends Error {
  readonly code: Code;

  constructor(code: Code, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
