import { readFileSync } from 'node:fs';
import tls from 'node:tls';

/**
 * Returns the authorities that Node trusts by itself (PEM), with those of NODE_EXTRA_CA_CERTS. A list of one's own replaces them, so that it
 * has to begin with these. Node before 22.15, which runs the client only, cannot list them.
 *
 * @see https://nodejs.org/api/tls.html#tlsgetcacertificatestype
 */
export function defaultAuthorities(): string[] {
  const { getCACertificates } = tls as { readonly getCACertificates?: typeof tls.getCACertificates };
  if (getCACertificates !== undefined) return getCACertificates('default');
  const extra = process.env['NODE_EXTRA_CA_CERTS'];
  return extra ? [...tls.rootCertificates, readFileSync(extra, 'utf8')] : [...tls.rootCertificates];
}
