/** The answers of the calls about operations. Times are ISO 8601, if no unit is given. */

import type { SessionAnswer } from './answers.ts';

export interface HealthAnswer {
  readonly checks: readonly HealthCheck[];
}

/** The result for one part of the service. */
export interface HealthCheck {
  readonly part:
    | 'servers'
    | 'store'
    | 'space'
    | 'key-service'
    | 'providers'
    | 'targets'
    | 'replication'
    | 'tasks'
    | 'certificates'
    | 'audit';
  /** `off`: not configured, or not known. */
  readonly state: 'good' | 'off' | 'warning' | 'bad';
  /** The result as a sentence for an administrator. */
  readonly words: string;
}

/** The metrics of a span of time, of one server or all of them together. */
export interface MetricsAnswer {
  /** Milliseconds of each point. */
  readonly stepMs: number;
  readonly servers: readonly string[];
  readonly points: readonly MetricsAnswerPoint[];
}

export interface MetricsAnswerPoint {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Absent where no server reported. Rates are for each second. */
  readonly values?: {
    readonly requests: number;
    readonly clientErrors: number;
    readonly serverErrors: number;
    readonly canceled: number;
    /** Bytes of HTTP. */
    readonly received: number;
    readonly sent: number;
    /** Processors that were busy. */
    readonly cpus: number;
    /** MiB of all servers together. */
    readonly memoryMib: number;
    /** Milliseconds to the first byte; absent without requests. */
    readonly median?: number;
    readonly p99?: number;
  };
}

/** The usage of one bucket at the last counts of the days that are kept. Days on which it was none of the largest buckets are absent. */
export interface BucketGrowthAnswer {
  readonly days: readonly { readonly day: string; readonly objects: number; readonly bytes: number }[];
}

export interface UsageHistoryAnswer {
  readonly days: readonly {
    /** `2026-11-24`, in UTC. */
    readonly day: string;
    readonly objects: number;
    readonly bytes: number;
    /** The largest first. */
    readonly buckets: readonly { readonly bucket: string; readonly objects: number; readonly bytes: number }[];
  }[];
}

export type AuditAnswer =
  /** `SVC_AUDIT_FILE` is not set. */
  | { readonly kind: 'no-file' }
  | {
      readonly kind: 'found';
      /** The newest first. */
      readonly entries: readonly AuditRow[];
      /** The matching reads of open pages that the search left out. */
      readonly leftOut: number;
      /** The `before` of the next search; absent at the beginning of the file. */
      readonly next?: number;
      /** The time of the oldest entry that was read. */
      readonly since?: string;
    };

export interface AuditRow {
  readonly id: string;
  readonly time: string;
  readonly operation: string;
  readonly bucket?: string;
  readonly object?: string;
  readonly status: number;
  readonly who: string;
  readonly address: string;
  readonly error?: string;
  readonly decisions: readonly {
    readonly action: string;
    readonly resource: string;
    readonly effect: 'allow' | 'deny';
    readonly reason: string;
  }[];
  /** The whole entry, as it is in the file. */
  readonly entry: unknown;
}

export interface WorkAnswer {
  readonly tasks: readonly {
    readonly task: string;
    readonly lastSuccess?: string;
    readonly failure?: {
      readonly since: string;
      readonly attempts: number;
      readonly error: string;
      readonly retryAt: string;
    };
    /** May be paused. */
    readonly pausable: boolean;
    readonly pausedUntil?: string;
    readonly progress?: WorkProgress;
  }[];
}

/** The progress of a task. */
export type WorkProgress =
  | {
      /** It walks buckets, `done` of them to the end for today. */
      readonly kind: 'walk';
      readonly buckets: number;
      readonly done: number;
      /** `BUCKET/KEY`, in the bucket that it walks now. */
      readonly at?: string;
      readonly changed: number;
      readonly failed: number;
    }
  | {
      /** It works on a queue, which may have `more` than are counted. */
      readonly kind: 'queue';
      readonly waiting: number;
      readonly more: boolean;
      readonly oldest?: string;
    };

/** A session of the console. */
export interface SessionRow {
  readonly id: string;
  readonly name: string;
  readonly accessKey: string;
  readonly signedInBy: SessionAnswer['signedInBy'];
  readonly signedInAt: string;
  readonly expires: string;
  /** The session of the caller. */
  readonly own: boolean;
}

export interface SessionList {
  readonly sessions: readonly SessionRow[];
  readonly next?: string;
}
