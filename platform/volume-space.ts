/** The room of a volume, in bytes. */
export interface VolumeSpace {
  readonly free: number;
  readonly total: number;
  /** Its inodes: a volume may have room for bytes and for no further file. Absent where the file system makes them as it needs them. */
  readonly inodes?: { readonly free: number; readonly total: number } | undefined;
}
