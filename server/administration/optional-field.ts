/** Returns an object with the field, or without it if the value is undefined. Spread it into another object. */
export function optionalField<Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): { readonly [N in Name]?: Value } {
  // TypeScript widens a computed name to string.
  return (value === undefined ? {} : { [name]: value }) as { readonly [N in Name]?: Value };
}
