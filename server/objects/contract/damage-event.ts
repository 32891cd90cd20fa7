/** The outcome for an object whose bytes a read found damaged, or that is quarantined. */
export interface DamageEvent {
  readonly kind:
    /** The object is not served from now on. */
    | 'quarantined'
    /** A second read over a new connection found the bytes whole. */
    | 'read-again'
    /** The object was quarantined, is whole, and is served again. */
    | 'released';
  readonly bucket: string;
  readonly key: string;
  readonly versionId?: string | undefined;
  readonly what: string;
}
