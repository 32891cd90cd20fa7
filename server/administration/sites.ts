/** A server that becomes a site, with the keys of its root user. */
export interface NewSite {
  readonly name: string;
  /** A URL without a path. */
  readonly endpoint: string;
  readonly accessKey: string;
  readonly secretKey: string;
}

/** A change of one site, or of the whole group. Undefined keeps a field. */
export interface SiteChange {
  readonly deploymentId?: string | undefined;
  readonly endpoint?: string | undefined;
  /** Bytes each second for the objects of a bucket. */
  readonly bandwidthLimit?: number | undefined;
  readonly replicateIlmExpiry?: boolean | undefined;
}

/** A group of sites, as administrators see it. */
export interface ShownSites {
  readonly self: string;
  readonly sites: readonly {
    readonly name: string;
    readonly endpoint: string;
    readonly deploymentId: string;
    readonly bandwidthLimit: number;
  }[];
  readonly account: string;
  readonly replicateIlmExpiry: boolean;
}

/** The ledgers of all sites: for each the digests of its items by kind and name. A site that is away has none. */
export interface SiteContents extends ShownSites {
  readonly contents: ReadonlyMap<string, ReadonlyMap<string, ReadonlyMap<string, string>> | undefined>;
}

export interface ShownSiteResync {
  readonly id: string;
  readonly state: 'Ongoing' | 'Completed' | 'Failed' | 'Canceled';
  /** Milliseconds since 1970. */
  readonly started: number;
  readonly updated: number;
  readonly buckets: number;
  readonly replicated: { readonly count: number; readonly bytes: number };
  readonly failed: { readonly count: number; readonly bytes: number };
  readonly failedBuckets: readonly string[];
  /** The place of the walk. */
  readonly at?: { readonly bucket: string; readonly key: string };
}

export interface SiteResyncReport {
  readonly id: string;
  readonly buckets: readonly { readonly bucket: string; readonly error?: string }[];
}

/** The rates at which a site sends to all others, and they to it, at the same time. */
export interface SiteSpeed {
  readonly name: string;
  readonly endpoint: string;
  /** Bytes. */
  readonly sentPerSecond: number;
  readonly receivedPerSecond: number;
  readonly durationMs: number;
  readonly connections: number;
  /** Why some of them could not be measured. */
  readonly error?: string;
}

/** The rate at which a site, or a server, sent to another one. */
interface SentTo {
  /** The id of the other one. */
  readonly deploymentId: string;
  readonly bytesPerSecond: number;
  readonly error?: string | undefined;
}

/** Measures the connections between the servers of one deployment. */
export interface ServerSpeeds {
  /** Undefined where this server is the only one. Rejects with the reason of the signal. */
  measure(durationMs: number, signal: AbortSignal): Promise<readonly SiteSpeed[] | undefined>;
  /** Sends to all other servers. */
  sendToOthers(durationMs: number): Promise<readonly SentTo[]>;
}

/** The replication of sites. `server/sites` does it. Errors are `RequestError`s and `S3Error`s. */
export interface SiteReplication {
  /** Undefined where this server is not a site. */
  shown(): Promise<ShownSites | undefined>;
  add(sites: readonly NewSite[], replicateIlmExpiry: boolean): Promise<void>;
  edit(change: SiteChange): Promise<void>;
  /** Resolves with the reasons why sites could not be informed. */
  remove(names: readonly string[] | 'all'): Promise<readonly string[]>;
  /** Undefined where this server is not a site. */
  contents(): Promise<SiteContents | undefined>;
  startResync(deploymentId: string): Promise<SiteResyncReport>;
  cancelResync(deploymentId: string): Promise<SiteResyncReport>;
  resync(deploymentId: string): Promise<ShownSiteResync | undefined>;
  /** Measures the connections between the sites. Undefined where this server is not a site. */
  speed(durationMs: number, signal: AbortSignal): Promise<readonly SiteSpeed[] | undefined>;
  readonly peer: PeerCalls;
}

/** The calls of other sites. Bodies and answers are those of `server/sites/peer-messages.ts`. */
export interface PeerCalls {
  describe(): Promise<unknown>;
  join(body: unknown): Promise<void>;
  edit(body: unknown): Promise<void>;
  leave(): Promise<void>;
  digest(): Promise<unknown>;
  index(): Promise<unknown>;
  items(body: unknown): Promise<unknown>;
  /** Sends to the other sites, and resolves with how fast that was. */
  speed(durationMs: number): Promise<unknown>;
}
