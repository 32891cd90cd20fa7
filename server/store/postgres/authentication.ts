import type { Connection } from 'pg';
import type {
  AuthenticationMethod,
  AuthenticationRules,
} from '../../../platform/store-address/authentication-rules.ts';

/** Follows the sign-in of a connection, and refuses what the rules do not accept, before a password leaves. */
export class SignIn {
  readonly #rules: AuthenticationRules;
  #asked: AuthenticationMethod = 'none';
  #offersBinding = false;

  constructor(connection: Connection, rules: AuthenticationRules) {
    this.#rules = rules;
    const asks = (event: string, method: AuthenticationMethod) =>
      connection.prependListener(event, (message: { readonly mechanisms?: readonly string[] }) => {
        this.#asked = method;
        this.#offersBinding = message.mechanisms?.includes('SCRAM-SHA-256-PLUS') === true;
      });
    asks('authenticationCleartextPassword', 'password');
    asks('authenticationMD5Password', 'md5');
    asks('authenticationSASL', 'scram-sha-256');
  }

  /** Call it before a password is sent, and once more when the server has taken the connection. */
  check(): void {
    const { methods: accepted, channelBinding } = this.#rules;
    if (!accepted.includes(this.#asked)) {
      const asked = this.#asked === 'none' ? 'for no proof' : `for the method ${this.#asked}`;
      throw new Error(`it asks ${asked}, and require_auth of the address accepts ${accepted.join(', ')}`);
    }
    if (channelBinding === 'require' && !this.#offersBinding) {
      throw new Error(
        'it offers no channel binding, which the address requires: it needs TLS and scram-sha-256 up to the server itself, without a proxy that ends TLS',
      );
    }
  }
}
