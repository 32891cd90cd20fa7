import { KeyServiceError } from '../../platform/key-service-client.ts';

/** The failure of a call, with what to do about it. */
export function explainFailure(error: unknown): unknown {
  if (!(error instanceof KeyServiceError)) return error;
  const advice = adviceFor(error);
  return advice === undefined ? error : new Error(`${error.message}\n${advice}`, { cause: error });
}

function adviceFor(error: KeyServiceError): string | undefined {
  switch (error.code) {
    case 'unavailable':
      return error.status === undefined ? connectionAdvice(error.message) : undefined;
    case 'not-permitted':
      return error.status === 403
        ? 'The policy of your identity must allow the call; "keysvc identity info" shows who you are and what you may do.'
        : 'The key server wants one client certificate: see KEYSVC_CLIENT_KEY and KEYSVC_CLIENT_CERT, or KEYSVC_API_KEY.';
    case 'not-supported':
      return 'This key server does not have the call. Its policies and identities stand in its configuration file: change them there, and it takes them over by itself.';
    case 'key-not-found':
      return '"keysvc key ls" lists the keys that you may see.';
    case 'key-exists':
    case 'not-authentic':
    case 'invalid-request':
      return undefined;
  }
}

function connectionAdvice(message: string): string {
  if (/self-signed|unable to verify|unable to get/.test(message))
    return 'Name the authority that issued its certificate with KEYSVC_CAPATH or, for a test, leave it unchecked with -k.';
  if (/altnames|does not match/.test(message))
    return 'KEYSVC_SERVER must name the server as its certificate does ("keysvc identity new --ip --dns" sets the names).';
  if (/alert|handshake/.test(message))
    return 'The key server did not take the client certificate: it must come from an authority in its tls.ca, unless it runs with --auth=off.';
  return 'Is it running? KEYSVC_SERVER names it (https://HOST:7373).';
}
