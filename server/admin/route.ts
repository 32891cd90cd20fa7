import type { AdminServices } from './services.ts';

export interface Route {
  readonly method: string;
  readonly path: RegExp;
  /** What the caller's policies must allow. */
  readonly action: string;
  /** The JSON of the answer; undefined for none. */
  readonly serve: (services: AdminServices, query: URLSearchParams) => Promise<unknown>;
  /** It may take as long as reading all that is stored: spaces keep the connection alive. A failure is told with status 200. */
  readonly slow?: true;
}
