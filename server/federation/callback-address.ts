/**
 * Returns the address of the console to which providers send browsers back. A port that the scheme has by default is left out, because providers
 * compare the address as a text, and nobody registers it with that port. Some proxies send it in Host.
 */
export function callbackOf(base: string): string {
  const plain = base.replace(/^(?:(https:\/\/[^/]*):443|(http:\/\/[^/]*):80)(?=\/|$)/i, '$1$2');
  return `${plain.replace(/\/+$/, '')}/oauth_callback`;
}
