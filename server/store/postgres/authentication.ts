import type { Connection } from 'pg';
import { ProgramError } from '../../../platform/program-error.ts';

/** The methods by which a server may ask for a proof, by libpq's names. */
const methods = ['none', 'password', 'md5', 'scram-sha-256'] as const;
type Method = (typeof methods)[number];

const bindings = ['disable', 'prefer', 'require'] as const;

/** What the client accepts when it signs in. */
export interface AuthenticationRules {
  /** The accepted methods; all by default. */
  readonly methods: readonly Method[];
  readonly channelBinding: (typeof bindings)[number];
}

/**
 * Parses `require_auth` and `channel_binding`.
 *
 * @see https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNECT-REQUIRE-AUTH
 * @throws ProgramError
 */
export function authenticationRules(options: URLSearchParams): AuthenticationRules {
  const channelBinding = options.get('channel_binding') ?? 'disable';
  if (!isOneOf(bindings, channelBinding)) throw unknownValue('channel_binding', bindings);
  const named = (options.get('require_auth') ?? '').split(',').filter((name) => name !== '');
  const without = named.filter((name) => name.startsWith('!')).map((name) => name.slice(1));
  if (without.length > 0 && without.length < named.length) throw unknownValue('require_auth', methods);
  const listed = without.length > 0 ? without : named;
  if (!listed.every((name) => isOneOf(methods, name))) throw unknownValue('require_auth', methods);
  if (listed.length === 0) return { methods, channelBinding };
  return { methods: methods.filter((method) => listed.includes(method) === (without.length === 0)), channelBinding };
}

/** Follows the sign-in of a connection, and refuses what the rules do not accept, before a password leaves. */
export class SignIn {
  readonly #rules: AuthenticationRules;
  #asked: Method = 'none';
  #offersBinding = false;

  constructor(connection: Connection, rules: AuthenticationRules) {
    this.#rules = rules;
    const asks = (event: string, method: Method) =>
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

function isOneOf<T extends string>(values: readonly T[], value: string): value is T {
  return (values as readonly string[]).includes(value);
}

function unknownValue(option: string, values: readonly string[]): ProgramError {
  return new ProgramError('store-address', `the address of PostgreSQL has another ${option} than ${values.join(', ')}`);
}
