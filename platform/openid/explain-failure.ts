import { OpenIdError } from './errors.ts';

const causes: Readonly<Record<string, string>> = {
  ENOTFOUND: 'its host name is not known; check the spelling and the DNS',
  EAI_AGAIN: 'its host name could not be looked up just now; check the DNS',
  ECONNREFUSED: 'the connection was refused; check the port and that the provider runs',
  ECONNRESET: 'the connection was cut',
  EHOSTUNREACH: 'there is no route to its host',
  ENETUNREACH: 'there is no route to its network',
  ETIMEDOUT: 'the connection timed out',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed; name its CA by CA_FILE',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate comes from an unknown CA; name that CA by CA_FILE',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate comes from an unknown CA; name that CA by CA_FILE',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate comes from an unknown CA; name that CA by CA_FILE',
};

/** Converts the error of a call to a provider into an `OpenIdError` whose message says what to do. */
export function explainFailure(
  code: 'Unreachable' | 'KeysUnreachable',
  what: string,
  url: string,
  error: unknown,
): OpenIdError {
  if (error instanceof OpenIdError) return error;
  if (error instanceof RangeError) {
    return new OpenIdError('TooLarge', `${what} at ${url} cannot be used: ${error.message}.`, { cause: error });
  }
  return new OpenIdError(code, `${what} at ${url} cannot be read: ${causeOf(error)}.`, { cause: error });
}

/** Describes a network error in words. For an unknown one it returns the message of the error. */
function causeOf(error: unknown): string {
  // Happy eyeballs reports one error for each address.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  if (!(first instanceof Error)) return String(first);
  const code = 'code' in first && typeof first.code === 'string' ? first.code : undefined;
  return (code === undefined ? undefined : causes[code]) ?? first.message;
}
