/** An object with that field, or without it where there is no value: to be spread into another. */
export function optionalField<Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): { readonly [N in Name]?: Value } {
  // A computed name widens to any string: the type says again what it is.
  return (value === undefined ? {} : { [name]: value }) as { readonly [N in Name]?: Value };
}
