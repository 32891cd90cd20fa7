import { readFileSync } from 'node:fs';
import tls from 'node:tls';
import type { X509Certificate } from 'node:crypto';
import { certificatesIn } from './certificate-chain.ts';

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

let parsed: { readonly ca: Buffer | undefined; readonly certificates: readonly X509Certificate[] } | undefined;

/** Returns the authorities in PEM, or those that Node trusts by itself. They are parsed once, until others come. */
export function trustedAuthorities(ca: Buffer | undefined): readonly X509Certificate[] {
  if (parsed === undefined || parsed.ca !== ca)
    parsed = { ca, certificates: certificatesIn(ca ?? Buffer.from(defaultAuthorities().join('\n'))) };
  return parsed.certificates;
}
