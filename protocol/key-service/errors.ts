/** The errors on which a caller of the key service can act. */
export type KeyServiceErrorCode =
  | 'key-not-found'
  | 'key-exists'
  | 'not-authentic'
  | 'not-permitted'
  | 'invalid-request'
  | 'not-supported'
  | 'unavailable';

/** The errors of the protocol. Clients of other vendors compare the text, so the text never changes. */
export const refusals = {
  notPermitted: [403, 'not authorized: insufficient permissions'],
  keyNotFound: [404, 'key does not exist'],
  keyExists: [400, 'key already exists'],
  notAuthentic: [400, 'decryption failed: ciphertext is not authentic'],
  tlsRequired: [400, 'insecure connection: TLS required'],
  noClientCertificate: [400, 'insecure connection: no client certificate is present'],
  tooManyClientCertificates: [400, 'insecure connection: too many client certificates are present'],
  noHmac: [409, 'key does not support HMAC'],
  policyNotFound: [404, 'policy does not exist'],
  identityNotFound: [404, 'identity does not exist'],
  invalidKeySize: [400, 'invalid key size'],
  tooManyCiphertexts: [400, 'too many ciphertexts'],
  notImplemented: [501, 'not implemented'],
  methodNotAllowed: [405, 'Method Not Allowed'],
  createFailed: [502, 'bad gateway: failed to create key'],
  accessFailed: [502, 'bad gateway: failed to access key'],
  deleteFailed: [502, 'bad gateway: failed to delete key'],
  listFailed: [502, 'bad gateway: failed to list keys'],
  storeUnavailable: [502, 'key store is unavailable'],
  storeUnreachable: [504, 'key store is not reachable'],
  timeout: [503, 'timeout'],
  stopping: [503, 'the key service is stopping'],
  tooManyStreams: [503, 'too many log streams'],
  bodyTooLarge: [413, 'http: request body too large'],
} as const satisfies Record<string, readonly [status: number, message: string]>;

export type Refusal = keyof typeof refusals;

/** The answers that decide a call, in the words of the protocol's releases. */
const decisions: readonly (readonly [status: number, words: RegExp, code: KeyServiceErrorCode])[] = [
  [404, /^key does not exist$/, 'key-not-found'],
  [400, /^key (?:does already exist|already exists)$/, 'key-exists'],
  [400, /^decryption failed: ciphertext is not authentic$/, 'not-authentic'],
  [403, /^not authorized(?:$|: )/, 'not-permitted'],
  [400, /^insecure connection: /, 'not-permitted'],
  [400, /^tls: client certificate is required$/, 'not-permitted'],
  [400, /^invalid (?:argument: |key size$)/, 'invalid-request'],
  [400, /^key name '.*' is empty, too long or contains invalid characters$/, 'invalid-request'],
  [400, /^too many ciphertexts$/, 'invalid-request'],
  [404, /^(?:policy|identity|enclave) does not exist$/, 'invalid-request'],
  [406, /^(?:algorithm '.*' is not supported|invalid key size for '.*')$/, 'invalid-request'],
  [409, /^key does not support HMAC$/, 'invalid-request'],
  [413, /^http: request body too large$/, 'invalid-request'],
  [405, /^method not allowed$/i, 'not-supported'],
  [501, /^not implemented$/, 'not-supported'],
];

/**
 * Finds the code of a response whose status is not 200. Only the protocol's own words decide a call. Any other answer, whatever its status, may
 * be that of a gateway before the service, and says nothing about keys: it is `unavailable`, and another endpoint or a later call may succeed.
 *
 * @param message the text in the JSON body of the response; undefined where the body is not of the protocol
 */
export function codeOfAnswer(status: number, message: string | undefined): KeyServiceErrorCode {
  if (message === undefined) return 'unavailable';
  return decisions.find(([at, words]) => at === status && words.test(message))?.[2] ?? 'unavailable';
}

/** Reports whether the service says that the key store behind it fails. A gateway sends these statuses too, in other words. */
export function isStoreFailure(status: number, message: string | undefined): boolean {
  return (status === 502 || status === 504) && /^(?:bad gateway: failed to |key store is )/.test(message ?? '');
}
