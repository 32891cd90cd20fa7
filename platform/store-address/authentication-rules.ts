import { ProgramError } from '../errors/program-error.ts';

/** The methods by which a server may ask for a proof, by libpq's names. */
const methods = ['none', 'password', 'md5', 'scram-sha-256'] as const;
export type AuthenticationMethod = (typeof methods)[number];

const bindings = ['disable', 'prefer', 'require'] as const;

/** The ways in which the client accepts to sign in. */
export interface AuthenticationRules {
  /** The accepted methods; all by default. */
  readonly methods: readonly AuthenticationMethod[];
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

function isOneOf<T extends string>(values: readonly T[], value: string): value is T {
  return (values as readonly string[]).includes(value);
}

function unknownValue(option: string, values: readonly string[]): ProgramError {
  return new ProgramError('store-address', `the address of PostgreSQL has another ${option} than ${values.join(', ')}`);
}
