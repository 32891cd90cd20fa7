/**
 * Why the directory does not let somebody in. `refused`: name or password are wrong, or the account is locked; `ambiguous`: the filter
 * finds several; `unavailable`: it cannot be asked, or does not answer as it must; `not-configured`: there is none.
 */
export type LdapProblemCode = 'refused' | 'ambiguous' | 'unavailable' | 'not-configured';

/** `message` is shown to the person who asked. It names no password, and does not tell a wrong name from a wrong password. */
export class LdapProblem extends Error {
  override readonly name = 'LdapProblem';
  readonly code: LdapProblemCode;
  constructor(code: LdapProblemCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
