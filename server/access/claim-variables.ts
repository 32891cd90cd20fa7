/** Claims that policies may use as `${jwt:…}` and as condition keys. */
const names = [
  'sub',
  'iss',
  'aud',
  'jti',
  'upn',
  'name',
  'groups',
  'given_name',
  'family_name',
  'middle_name',
  'nickname',
  'preferred_username',
  'profile',
  'picture',
  'website',
  'email',
  'gender',
  'birthdate',
  'phone_number',
  'address',
  'scope',
  'client_id',
];

/** Longer text never names a bucket or a key. Characters. */
const longest = 1_024;

/** Only the claims that policies may use; `lists` keeps those of several texts. */
export function variableClaims(
  claims: Readonly<Record<string, unknown>>,
  options: { readonly lists: boolean },
): Record<string, unknown> {
  const kept = names.flatMap((name) => {
    const value = claims[name];
    const usable = options.lists ? isText(value) || isTextList(value) : isText(value);
    return usable ? [[name, value] as const] : [];
  });
  return Object.fromEntries(kept);
}

/** What `${jwt:…}` stands for. Only single texts: a list has no one value to put into a resource. */
export function jwtVariables(claims: Readonly<Record<string, unknown>>): Record<string, string> {
  const texts = names.flatMap((name) => {
    const value = claims[name];
    return isText(value) ? [[`jwt:${name}`, value] as const] : [];
  });
  return Object.fromEntries(texts);
}

/** The same claims as condition keys, which may have several values. */
export function jwtContext(claims: Readonly<Record<string, unknown>>): Record<string, readonly string[]> {
  const context: Record<string, readonly string[]> = {};
  for (const name of names) {
    const value = claims[name];
    if (isText(value)) context[`jwt:${name}`] = [value];
    else if (isTextList(value)) context[`jwt:${name}`] = value;
  }
  return context;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= longest;
}

function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(isText);
}
