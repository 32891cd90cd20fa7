import type { AcceptedRoots } from './tenant/accepted-roots.ts';
import type { ReconcilerOptions } from './reconciler-options.ts';
import type { KeyServiceView } from './key-service/key-service-views.ts';
import type { Providers } from './identity-provider/providers.ts';
import type { Rollouts } from './rollouts.ts';
import type { StatusWriter } from './status-writer.ts';

/** The state that the reconcile functions of all kinds share. */
export interface SharedState {
  readonly options: ReconcilerOptions;
  readonly providers: Providers;
  readonly rollouts: Rollouts;
  readonly roots: AcceptedRoots;
  readonly status: StatusWriter;
  /** The last view of each key service, by the name of its KMSConfig. */
  readonly keyServices: Map<string, KeyServiceView>;
  /** The KMSConfig of each tenant at its last reconcile: its key service drops the tenant's policy when the tenant goes. */
  readonly keyServiceOf: Map<string, string>;
}
