/** The budget of a query. */
export interface QueryBudget {
  /** Milliseconds of processor time. */
  readonly processorMs: number;
  /** Bytes that a compressed object may expand to. */
  readonly decompressedBytes: number;
}

/** The defaults of the settings: five minutes, and 64 GiB. */
export const defaultQueryBudget: QueryBudget = { processorMs: 300_000, decompressedBytes: 64 * 2 ** 30 };
