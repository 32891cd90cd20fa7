/**
 * Returns for how many seconds a presigned URL works: the limit, or until the policies refuse its age. The search halves the time that is
 * left, since a policy that refuses an age refuses all greater ones: it has a maximum of `s3:signatureAge`, or an end.
 *
 * @param limit - seconds, at least 1
 * @param allowsAt - reports whether the policies allow a request with a URL of this age, in milliseconds
 */
export async function maxLifetime(limit: number, allowsAt: (age: number) => Promise<boolean>): Promise<number> {
  // A URL of N seconds is used at an age of less than N seconds.
  const works = (seconds: number) => allowsAt(seconds * 1_000 - 1);
  if (await works(limit)) return limit;
  let [max, rejected] = [1, limit];
  while (rejected - max > 1) {
    const middle = Math.floor((max + rejected) / 2);
    if (await works(middle)) max = middle;
    else rejected = middle;
  }
  return max;
}
