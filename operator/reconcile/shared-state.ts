import type { AcceptedRoots } from './tenant/accepted-roots.ts';
import type { ReconcilerOptions } from './reconciler-options.ts';
import type { KeyServiceView } from './key-service/key-service-views.ts';
import type { Providers } from './identity-provider/providers.ts';
import type { Rollouts } from './rollouts.ts';
import type { StatusWriter } from './status-writer.ts';

/** What the passes of all kinds share. */
export interface SharedState {
  readonly options: ReconcilerOptions;
  readonly providers: Providers;
  readonly rollouts: Rollouts;
  readonly roots: AcceptedRoots;
  readonly status: StatusWriter;
  /** By KMSConfig. */
  readonly keyServices: Map<string, KeyServiceView>;
  /** The KMSConfig that a tenant used at its last pass: it drops its policy when the tenant goes. */
  readonly keyServiceOf: Map<string, string>;
}
