/** The service as administrators see it. Times are ISO 8601, sizes bytes. */
export interface StatusAnswer {
  readonly version: string;
  readonly deploymentId: string;
  readonly region: string;
  readonly dataFolder: string;
  readonly buckets: number;
  readonly servers: readonly {
    readonly endpoint: string;
    readonly version: string;
    readonly startedAt: string;
    /** The one that answered. */
    readonly here: boolean;
  }[];
  /** Absent where it cannot be told. */
  readonly space?: { readonly free: number; readonly total: number };
  readonly keyService:
    | { readonly kind: 'none' }
    | { readonly kind: 'online' | 'offline'; readonly defaultKey: string; readonly endpoints: readonly string[] };
  readonly providers: readonly { readonly name: string; readonly displayName: string; readonly reason?: string }[];
  readonly directory: boolean;
}
