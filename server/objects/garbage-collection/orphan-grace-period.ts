/**
 * Milliseconds for which a body that no record refers to stays. It is the maximum duration of an upload, and the time in which a restore of
 * the wrong records can be undone.
 */
export const ORPHAN_GRACE_PERIOD = 24 * 3_600_000;
