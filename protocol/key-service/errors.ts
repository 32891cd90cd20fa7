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

/** Other releases send these texts for the same errors. */
const synonyms: Readonly<Record<string, KeyServiceErrorCode>> = {
  'key does already exist': 'key-exists',
  'not authorized': 'not-permitted',
};

/** Finds the code of a response whose status is not 200. */
export function codeOfAnswer(status: number, message: string): KeyServiceErrorCode {
  if (message === refusals.keyNotFound[1]) return 'key-not-found';
  if (message === refusals.keyExists[1]) return 'key-exists';
  if (message === refusals.notAuthentic[1]) return 'not-authentic';
  const synonym = synonyms[message];
  if (synonym !== undefined) return synonym;
  if (status === 401 || status === 403 || message.startsWith('insecure connection:')) return 'not-permitted';
  if (message === 'tls: client certificate is required') return 'not-permitted';
  if (status === 501 || status === 405) return 'not-supported';
  if (status >= 500) return 'unavailable';
  return 'invalid-request';
}
