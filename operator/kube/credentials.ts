/** Where an API server is, whom it must prove to be, and as whom to speak to it. */
export interface Connection {
  readonly server: URL;
  /** TLS material in PEM; the system's authorities without `ca`. */
  readonly tls: {
    readonly ca?: string;
    readonly cert?: string;
    readonly key?: string;
    readonly servername?: string;
    readonly rejectUnauthorized?: false;
  };
  /** Value of the Authorization header, asked for at each request: tokens of service accounts change every hour. */
  readonly authorization: () => Promise<string | undefined>;
  /** Namespace of the pod or of the kubeconfig's context. */
  readonly namespace: string | undefined;
}

/** As the service account of the pod that this runs in. Errors outside a cluster. */
export declare function inCluster(environment: Readonly<Record<string, string | undefined>>): Promise<Connection>;

/**
 * As a kubeconfig says: the file given, else `KUBECONFIG`, else `~/.kube/config`. Takes 75 MB and a second (the library is loaded
 * here), so never in the cluster. `context`: another than the current one.
 */
export declare function fromKubeconfig(file?: string, context?: string): Promise<Connection>;
