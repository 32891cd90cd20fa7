/**
 * Returns the location of a bucket as clients see it. They sign for it, so that a store with a region (`hasRegion`) answers that one for all
 * buckets.
 */
export function locationOf(
  { region, hasRegion }: { readonly region: string; readonly hasRegion: boolean },
  { location }: { readonly location: string },
): string {
  return hasRegion || location === '' ? region : location;
}
