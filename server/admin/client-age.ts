/**
 * Clients before the third generation of their library (`MinIO (linux; amd64) madmin-go/2.0.20 mc/…`) take a list of access keys as
 * names alone and call a description `comment`; the newer ones cannot read that, nor the old ones what is new.
 */
export function isOldClient(userAgent: string | undefined): boolean {
  const generation = /\bmadmin-go\/v?(\d+)\./.exec(userAgent ?? '')?.[1];
  return generation !== undefined && Number(generation) < 3;
}
