import type { IncomingMessage } from 'node:http';
import type { Identity } from '../../protocol/key-service/identity.ts';
import type { Route } from '../../protocol/key-service/routes.ts';
import type { Authorizer } from '../access/authorizer.ts';
import type { Keyring } from '../keys/keyring.ts';

/** What the calls work on. */
export interface Service {
  readonly keyring: Keyring;
  readonly authorizer: Authorizer;
  readonly startedAt: number;
  readonly version: string;
  readonly commit: string;
  readonly now: () => number;
  /** Whether the service is about to stop: it still answers, and is not ready. */
  readonly leaving: () => boolean;
}

/** One request that was let through. */
export interface Call {
  readonly service: Service;
  readonly route: Route;
  /** The name, pattern or identity at the end of the path. */
  readonly argument: string;
  /** Absent where the call needs no certificate. */
  readonly identity: Identity | undefined;
  readonly request: IncomingMessage;
}

/** What is sent with status 200. */
export type Answer =
  | { readonly kind: 'empty' }
  | { readonly kind: 'json'; readonly body: object }
  | { readonly kind: 'lines'; readonly text: string };

export type Handler = (call: Call) => Promise<Answer>;

export const empty: Answer = { kind: 'empty' };

export function json(body: object): Answer {
  return { kind: 'json', body };
}
