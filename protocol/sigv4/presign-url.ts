import type { Credentials } from './signed-request.ts';

export interface Presigning {
  readonly region: string;
  readonly service: string;
  readonly now: Date;
  /** Seconds, 1 to 604800. */
  readonly expires: number;
  readonly method?: string;
}

/** The URL with its signature in the query; `url` may carry a query of its own. */
export function presignUrl(_url: URL, _credentials: Credentials, _presigning: Presigning): URL {
  throw new Error('not yet');
}
