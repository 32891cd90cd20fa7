/** Marked rows of a folder. */
export interface Selection {
  readonly objects: readonly { readonly key: string; readonly size: number }[];
  /** Prefixes, which end in `/`, with everything below them. */
  readonly folders: readonly string[];
}
