import { webcrypto } from 'node:crypto';

/**
 * The library that writes certificates, loaded when one is made: it takes about 94 ms to import, which programs that only read
 * certificates need not pay.
 */
export async function loadX509() {
  // The library's dependency injection fails to load without it.
  await import('reflect-metadata');
  const x509 = await import('@peculiar/x509');
  x509.cryptoProvider.set(webcrypto);
  return x509;
}
