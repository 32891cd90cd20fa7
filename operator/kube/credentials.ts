import type { Agent } from 'node:http';

/** Where an API server is, whom it must prove to be, and as whom to speak to it. */
export interface Connection {
  readonly server: URL;
  /** In PEM; the system's authorities without `ca`. */
  readonly tls: {
    readonly ca?: string;
    readonly cert?: string;
    readonly key?: string;
    readonly servername?: string;
    readonly rejectUnauthorized?: boolean;
  };
  /** Instead of one made from `tls`: where the kubeconfig names a proxy. */
  readonly agent?: Agent;
  /** Value of the Authorization header, asked for at each request: tokens of service accounts change every hour. */
  readonly authorization: () => Promise<string | undefined>;
  /** Namespace of the pod, or of the kubeconfig's context. */
  readonly namespace: string | undefined;
}
