import type { X509Certificate } from 'node:crypto';

/**
 * A comment, which tools show to people and which changes nothing else.
 *
 * @see https://docs.openssl.org/master/man5/x509v3_config/ (nsComment)
 */
export const commentExtension = '2.16.840.1.113730.1.13';

const text = 'For testing only: made by hand, signed by itself';

/** DER of the comment: an IA5String. */
export function testingMark(): Buffer {
  const ia5String = 0x16;
  return Buffer.from([ia5String, text.length, ...Buffer.from(text, 'ascii')]);
}

/** Whether a certificate was made for tests. */
export function isForTesting(certificate: X509Certificate): boolean {
  return certificate.raw.includes(testingMark());
}
