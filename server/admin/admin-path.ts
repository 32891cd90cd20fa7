/** The path of a call that `mc` knows. The newest clients say v4, and mean the same. */
export function adminPath(call: string): RegExp {
  return new RegExp(`^/minio/admin/v[34]/${call}$`);
}

/** The path of a call that is Coffer's own. */
export function cofferPath(call: string): RegExp {
  return new RegExp(`^/minio/admin/coffer/v1/${call}$`);
}
