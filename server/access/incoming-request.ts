import type { X509Certificate } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { BodySource } from '../objects/object-layer.ts';
import type { RequestWatch } from './request-events.ts';

/** A request as it came, target split but nothing interpreted yet. Built by `http`, read by `s3`, `sts`, `admin`. */
export interface IncomingRequest {
  readonly requestId: string;
  readonly method: string;
  /** The path as sent, still percent-encoded: signatures cover these bytes. */
  readonly rawPath: string;
  /** The query string as sent, without `?`. */
  readonly rawQuery: string;
  /** Names in lower case; values joined with `, ` where a header repeats. */
  readonly headers: IncomingHttpHeaders;
  /** Read at most once. Reading it tells a client that waits with `Expect: 100-continue` to go on; leaving it unread is fine. */
  readonly body: BodySource;
  readonly secure: boolean;
  readonly remoteAddress: string;
  /** A proxy that nobody trusts passed the request on: many clients may share the address. */
  readonly sharedAddress?: boolean;
  /** What the client presented; set where the server asks for certificates. */
  readonly clientCertificate?: (() => ClientCertificate | undefined) | undefined;
  /** Told which operation the request asks for, once that is known: what is told is counted. */
  readonly measure?: { isFor(operation: string, bucket?: string): void } | undefined;
  /** Told what the rooms find out about the request; set where somebody listens. */
  readonly watch?: RequestWatch | undefined;
}

export interface ClientCertificate {
  readonly certificate: X509Certificate;
  /** Why the authorities of the server do not vouch for it; absent where they do. */
  readonly problem?: string;
}
