/** URLs, addresses of IP, and the hosts that errors of connections name. */
const addresses =
  /\b[a-z][a-z0-9+.-]*:\/\/[^\s"'<>;,)]+|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b|(?<=\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EHOSTUNREACH) )\S+/gi;

/**
 * Returns the message of an error for a caller who is still unknown: without the addresses of providers, directories and plugins, which
 * may be inside a private network. The log has them.
 */
export function withoutAddresses(message: string): string {
  const clean = message.replaceAll(addresses, '[address]');
  return clean === message ? message : `${clean} The log of the server names the address.`;
}
