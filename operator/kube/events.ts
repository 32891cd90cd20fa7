import type { KubeApi, KubeObject } from './kube-api.ts';

export interface KubeEvent {
  /** Of the object that it is about: apiVersion, kind, name, namespace and uid are used. */
  readonly about: Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  /** What was being done: `Reconcile` without it. */
  readonly action?: string;
  readonly message: string;
}

/** Writes Events, aggregated. Never errors: an event lost is told to `failed`. */
export declare class EventRecorder {
  constructor(options: {
    readonly api: Pick<KubeApi, 'create' | 'patch'>;
    readonly now: () => Date;
    readonly instance: string;
    readonly failed: (error: unknown) => void;
  });
  record(event: KubeEvent): void;
  /** Resolves when what was recorded is written. */
  flush(): Promise<void>;
}
