/** What a client says of itself: `MinIO (linux; amd64) madmin-go/2.0.0 mc/RELEASE.2023-04-12T02-21-51Z`. */
type UserAgent = string | undefined;

/**
 * Clients of the second generation of the library and before take the answer of attaching by its status alone, and call the description
 * of an access key `comment`. All of the second say 2.0.0.
 */
export function isSecondGeneration(userAgent: UserAgent): boolean {
  const generation = /\bmadmin-go\/v?(\d+)\./.exec(userAgent ?? '')?.[1];
  return generation !== undefined && Number(generation) < 3;
}

/**
 * Clients of that generation take a list of access keys as names alone up to its release 2.1, and cannot read what later ones want, nor
 * the other way round. The library does not say its release; `mc` says its own, and has the later form since the summer of 2023.
 */
export function listsNamesAlone(userAgent: UserAgent): boolean {
  if (!isSecondGeneration(userAgent)) return false;
  const release = /\bmc\/RELEASE\.(\d{4}-\d\d)-/.exec(userAgent ?? '')?.[1];
  return release !== undefined && release < '2023-06';
}
