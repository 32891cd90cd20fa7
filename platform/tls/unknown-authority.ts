/** Node's codes of a certificate whose authority is not known. */
const codes: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** Reports whether an error of a connection says that the authority of the certificate is not known. */
export function isUnknownAuthority(code: string): boolean {
  return codes.has(code);
}
