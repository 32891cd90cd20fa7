import type { IncomingRequest } from './incoming-request.ts';

/** The condition keys that every request has, whichever interface it comes by: a Deny by one of them holds for all. */
export function connectionContext(
  { remoteAddress, secure }: Pick<IncomingRequest, 'remoteAddress' | 'secure'>,
  now: Date,
): Record<string, readonly string[]> {
  return {
    'aws:SourceIp': [remoteAddress],
    'aws:SecureTransport': [String(secure)],
    'aws:CurrentTime': [now.toISOString()],
    'aws:EpochTime': [String(Math.floor(now.getTime() / 1_000))],
  };
}
