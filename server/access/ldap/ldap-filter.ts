/** Who a search is for. */
export interface Sought {
  readonly name: string;
  /** Known once they were found. */
  readonly dn?: string;
}

/** The filter of a setting with `%s` as the name and `%d` as the DN: as text of the value, which can end nothing and be wild nowhere. */
export function fillFilter(template: string, { name, dn }: Sought): string {
  // A function: in a replacement text `$&` would mean something.
  return template.replaceAll(/%[sd]/g, (mark) => escapeFilterValue(mark === '%s' ? name : (dn ?? '')));
}

/** @see https://www.rfc-editor.org/rfc/rfc4515#section-3 */
export function escapeFilterValue(value: string): string {
  // oxlint-disable-next-line no-control-regex -- NUL is among what is escaped
  return value.replaceAll(/[*()\\\u0000]/g, (one) => `\\${one.charCodeAt(0).toString(16).padStart(2, '0')}`);
}
