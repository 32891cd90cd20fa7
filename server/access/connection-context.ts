export interface RequestOrigin {
  readonly remoteAddress: string;
  /** An untrusted proxy passed the request on: several clients may share the address. */
  readonly sharedAddress?: boolean;
  readonly secure: boolean;
}

/** The condition keys that every request has, whichever interface it comes by: a Deny by one of them holds for all. */
export function connectionContext(
  { remoteAddress, secure }: RequestOrigin,
  now: Date,
): Record<string, readonly string[]> {
  return {
    'aws:SourceIp': [remoteAddress],
    'aws:SecureTransport': [String(secure)],
    ...timeContext(now),
  };
}

export function timeContext(now: Date): Record<string, readonly string[]> {
  return {
    'aws:CurrentTime': [now.toISOString()],
    'aws:EpochTime': [String(Math.floor(now.getTime() / 1_000))],
  };
}
